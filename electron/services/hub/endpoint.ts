/** Where the hub is. The one place that knows the address of the usual one. */
import { ConcertinaError } from '../../contract/errors';
import { urlOrNull } from './urlOrNull';

const usual = 'https://huggingface.co';
const own = new Set(['localhost', '127.0.0.1', '[::1]']);

/** HF_ENDPOINT names a mirror. Throws `bad-request` when it is no address that a token could be sent to. */
export function endpointOf(environment: NodeJS.ProcessEnv): URL {
  const asked = environment.HF_ENDPOINT?.trim() || usual;
  const url = urlOrNull(asked);
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && own.has(url.hostname));
  if (!url || !safe || url.username !== '' || url.password !== '') {
    throw new ConcertinaError(
      'bad-request',
      'HF_ENDPOINT is not an address that can be used.',
      'It begins with https:// and has no name or password in it (http:// only for this machine).',
    );
  }
  url.pathname = url.pathname.replace(/\/*$/, '/');
  url.search = '';
  url.hash = '';
  return url;
}

/**
 * The proxy that the environment names for an address, by the same rules as the network library (NO_PROXY holds whole names,
 * or endings that begin with a dot or a star). Without the name and password that may be in it; null: none.
 */
export function proxyFor({ protocol, hostname, port }: URL, environment: NodeJS.ProcessEnv): string | null {
  const read = (name: string) => environment[name.toLowerCase()] ?? environment[name] ?? '';
  const named = (protocol === 'https:' && read('HTTPS_PROXY')) || read('HTTP_PROXY');
  const proxy = urlOrNull(named);
  if (!proxy) return null;
  const usedPort = port || (protocol === 'https:' ? '443' : '80');
  const spared = read('NO_PROXY')
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      const [host = '', only = usedPort] = entry.split(':');
      if (host === '' || only !== usedPort) return false;
      return /^[.*]/.test(host) ? hostname.endsWith(host.replace(/^\*/, '')) : hostname === host;
    });
  return spared ? null : proxy.host;
}
