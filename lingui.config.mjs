// Where the texts of the app are gathered from and where their translations stand: one catalog a folder of the source, so that
// people who work on different folders do not meet in one file. English is the source itself and has none.
// Extraction: npm run messages. Checks: test/texts.mjs, in `npm run check`.

import { formatter } from '@lingui/format-po';
import { createSwcExtractor } from '@lingui/native-tools';

const catalog = (name, folder) => ({
  path: `<rootDir>/assets/locales/{locale}/${name}`,
  include: [`<rootDir>/${folder}`],
});

export default {
  sourceLocale: 'en',
  locales: ['de'],
  catalogs: [
    catalog('{name}', 'renderer/features/{name}'),
    catalog('app', 'renderer/app'),
    catalog('bridge', 'renderer/bridge'),
    catalog('state', 'renderer/state'),
    catalog('ui', 'renderer/ui'),
    catalog('contract', 'electron/contract'),
    catalog('desktop', 'electron/desktop'),
    catalog('engine-process', 'electron/engine'),
    catalog('services', 'electron/services'),
    catalog('workers', 'electron/workers'),
  ],
  extractors: [createSwcExtractor()],
  // lines and dates would change with every edit
  format: formatter({ lineNumbers: false, customHeaderAttributes: { 'POT-Creation-Date': '' } }),
  // outside the window texts are made without a build step, by Lingui's own runtime
  macro: { corePackage: ['@lingui/core/macro', '@lingui/core/runtime-macro'] },
  runtimeConfigModule: { i18n: ['#language', 'i18n'], Trans: ['#language', 'Trans'] },
};
