/** What the reading of a document costs this process, looked at often while another thread does the reading. */
import type { documentExits, ReadingLimits } from '../../contract/workerTasks';

/** a decoder fills some megabytes in this time */
const msBetweenLooks = 10;

export interface Usage {
  /** resident */
  bytes(): number;
  /** of all threads since the start of the process */
  processorSeconds(): number;
}

const ofThisProcess: Usage = {
  bytes: () => process.memoryUsage.rss(),
  processorSeconds() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  },
};

/** Calls `end` once, with the limit that was exceeded. `progressed`: the reading got on; `ocr`: the page that OCR reads. */
export function watchCost(
  limits: ReadingLimits,
  end: (exceeded: keyof typeof documentExits) => void,
  usage: Usage = ofThisProcess,
): { progressed(ocr?: number): void } {
  let progressedAt = usage.processorSeconds();
  /** that OCR has begun to read */
  let pages = 0;
  let lastPage: number | undefined;

  function exceeded(): keyof typeof documentExits | null {
    if (usage.bytes() > limits.memoryBytes) return 'memory';
    const now = usage.processorSeconds();
    if (now > limits.totalSeconds + pages * limits.ocrPageSeconds) return 'late';
    return now - progressedAt > limits.stallSeconds ? 'stalled' : null;
  }

  const timer = setInterval(() => {
    const found = exceeded();
    if (found === null) return;
    clearInterval(timer);
    end(found);
  }, msBetweenLooks);

  return {
    progressed(ocr) {
      progressedAt = usage.processorSeconds();
      if (ocr !== undefined && ocr !== lastPage) pages += 1;
      lastPage = ocr ?? lastPage;
    },
  };
}
