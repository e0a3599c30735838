// Starts the addon as the engine does, in a process that a driver may end. CLI: node test/vulkan/start.mjs ADDON FOLDER
// prints { gpus, warnings } of its capabilities.

import { createRequire } from 'node:module';

const [addonFile, folder] = process.argv.slice(2);
const addon = createRequire(import.meta.url)(addonFile);
await addon.selfTest(folder);
const { gpus, warnings } = addon.capabilities();
console.log(JSON.stringify({ gpus, warnings }));
