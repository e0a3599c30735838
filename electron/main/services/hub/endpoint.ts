/** Where the hub is. The one place that knows the address of the usual one. */
import { ConcertinaError } from '../../../shared/errors';
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
