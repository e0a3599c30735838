// resources/app/main.cjs of the test runtime: starts the app folder named on the command line, as Electron's own
// default app does. That one is not in the package the runtime comes from.

const path = require('node:path');
const { app } = require('electron');

// `-r MODULE`: how Playwright gets in before the app
const preload = process.argv.indexOf('-r');
if (preload > 0) {
  const [, module] = process.argv.splice(preload, 2);
  require(module);
}

const named = process.argv.slice(1).find((argument) => !argument.startsWith('-'));
if (!named) {
  console.error('usage: electron [-r MODULE] [switches] APP_FOLDER');
  process.exit(2);
}
const folder = path.resolve(named);
const manifest = require(path.join(folder, 'package.json'));
process.defaultApp = true;
app.setAppPath(folder);
app.setName(manifest.productName ?? manifest.name);
app.setVersion(manifest.version);
require(path.join(folder, manifest.main));
