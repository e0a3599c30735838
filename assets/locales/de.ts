/** German: the catalogs of all folders as one. Loaded lazily. */
import type { Messages } from '@lingui/core';

const catalogs = import.meta.glob<Messages>('./de/*.po', { eager: true, import: 'messages' });

export const messages: Messages = Object.assign({}, ...Object.values(catalogs));
