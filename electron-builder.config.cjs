/**
 * How releases are packed. `npm run dist` (electron/dist.mjs) runs it.
 * The bundles hold every JavaScript dependency, so node_modules stays out; what is opened by a real path (the native
 * binary, the embedded model) stays outside the archive.
 * @type {import('electron-builder').Configuration}
 */
module.exports = {
  appId: 'app.concertina.desktop',
  productName: 'Concertina',
  executableName: 'concertina',
  directories: { output: 'release', buildResources: 'electron/packaging' },
  files: ['build/app/**', 'package.json', '!**/*.map'],
  asar: true,
  extraResources: [
    { from: 'build/native/bin', to: 'native', filter: ['*.node'] },
    { from: 'assets/models', to: 'models' },
    { from: 'assets/calibration', to: 'calibration' },
    { from: 'assets/catalog', to: 'catalog' },
    // outside the archive, so that a person finds them without the app; electron-builder then leaves them out of it
    { from: 'LICENSE', to: 'LICENSE.txt' },
    { from: 'build/app/THIRD-PARTY-NOTICES.txt', to: 'THIRD-PARTY-NOTICES.txt' },
  ],
  // false: node_modules is neither rebuilt (one Node-API binary serves every Electron) nor collected.
  // `npmRebuild: false` would do only the first, and keep this from being asked.
  beforeBuild: async () => false,
  electronLanguages: ['en-US'],

  electronFuses: {
    runAsNode: false,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    grantFileProtocolExtraPrivileges: false,
    enableCookieEncryption: true,
    // has an effect on macOS and Windows; on Linux no Electron checks it
    enableEmbeddedAsarIntegrityValidation: true,
    onlyLoadAppFromAsar: true,
  },

  mac: {
    category: 'public.app-category.productivity',
    // two apps instead of a universal one: half the download
    target: [
      { target: 'dmg', arch: ['arm64', 'x64'] },
      { target: 'zip', arch: ['arm64', 'x64'] },
    ],
    hardenedRuntime: true,
    gatekeeperAssess: false,
    entitlements: 'electron/packaging/entitlements.mac.plist',
    entitlementsInherit: 'electron/packaging/entitlements.mac.plist',
  },
  win: { target: [{ target: 'nsis', arch: ['x64'] }] },
  nsis: { oneClick: false, perMachine: false, allowToChangeInstallationDirectory: true },
  linux: {
    category: 'Utility',
    target: [
      { target: 'AppImage', arch: ['x64'] },
      { target: 'deb', arch: ['x64'] },
    ],
  },
};
