/** Handlers of the hub and of downloads. */
import type { Handlers } from '../../contract/contract';
import type { Hub } from './setUpHub';

type Names = Extract<keyof Handlers, `hub.${string}` | `downloads.${string}`>;

export function createHubHandlers({ service, downloads }: Hub): Pick<Handlers, Names> {
  return {
    'hub.search': (question) => service.search(question),
    'hub.cancelSearch': async ({ asker }) => service.cancelSearch(asker),
    'hub.model': ({ repo, revision }) => service.model(repo, revision),
    'hub.fit': (question) => service.fit(question),
    'hub.catalogue': () => service.catalogue(),
    'hub.account': async () => service.account(),
    'hub.setToken': ({ token }) => service.setToken(token),

    'downloads.list': async () => downloads.list(),
    'downloads.start': (request) => downloads.start(request),
    'downloads.pause': ({ id }) => downloads.pause(id),
    'downloads.resume': ({ id }) => downloads.resume(id),
    'downloads.cancel': ({ id }) => downloads.cancel(id),
    'downloads.clear': async () => downloads.clear(),
  };
}
