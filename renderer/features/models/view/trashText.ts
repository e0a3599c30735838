import type { ModelPlace } from '../../../../electron/contract/models';

/** What goes with a file, before it goes. */
export function trashText({ location, app }: ModelPlace, several: boolean): string {
  const what = `The file in ${location}, with all its parts.`;
  const warning = app ? ` ${app} keeps it there and will miss it.` : '';
  return `${what}${warning}${several ? ' Its other places stay.' : ''}`;
}
