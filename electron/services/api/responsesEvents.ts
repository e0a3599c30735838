/**
 * Events of a stream of the Responses API on their way to the client. llama-server leaves out where in the response each
 * belongs; OpenAI's own client puts the response together by that, and stops at the first event without it.
 */

interface Event {
  type?: string;
  item_id?: string;
  item?: { id?: string; type?: string };
  response?: { output?: unknown[] };
}

export class ResponsesEvents {
  /** of an event that is not yet whole */
  private rest = '';
  private sequence = 0;
  /** ids of the parts of the response, in the order in which they began */
  private readonly items: string[] = [];

  /** @returns the events that are whole, with their places; the beginning of another one waits */
  add(text: string): string {
    const events = `${this.rest}${text}`.split('\n\n');
    this.rest = events.pop() ?? '';
    return events.map((event) => this.withPlace(event)).join('');
  }

  /** @returns what is left */
  end(): string {
    return this.rest;
  }

  private withPlace(text: string): string {
    const data = /^data: (\{.*\})$/m.exec(text)?.[1];
    if (data === undefined) return `${text}\n\n`;
    const event: Event = JSON.parse(data);
    const placed = this.write(event);
    const { type, item } = event;
    if (type !== 'response.output_item.added' || item?.type !== 'reasoning') return placed;
    // its text is told without the part that it belongs to
    const part = { type: 'reasoning_text', text: '' };
    return `${placed}${this.write({ type: 'response.content_part.added', item_id: item.id ?? '', ...{ part } })}`;
  }

  private write({ response, ...event }: Event): string {
    const id = event.item?.id ?? event.item_id;
    const placed = {
      ...event,
      ...(response && { response: { output: [], ...response } }),
      ...(id !== undefined && { output_index: this.indexOf(id) }),
      // there is one text in each part
      ...(event.item_id !== undefined && { content_index: 0 }),
      sequence_number: this.sequence++,
    };
    return `event: ${event.type}\ndata: ${JSON.stringify(placed)}\n\n`;
  }

  private indexOf(id: string): number {
    const known = this.items.indexOf(id);
    return known >= 0 ? known : this.items.push(id) - 1;
  }
}
