/**
 * How releases are packed. `npm run dist` (electron/dist.mjs) runs it, for the processor of the machine or the one named.
 * The bundles hold every JavaScript dependency, so node_modules stays out; what is opened by a real path (the native
 * binary, the embedded model) stays outside the archive.
 */
const path = require('node:path');

const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env;
// deb and rpm must name a page and an address: those of the repository that the hosted workflow runs in. Elsewhere a name
// that can never exist, which a release refuses (electron/release.mjs).
const homepage = GITHUB_REPOSITORY ? `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}` : 'https://concertina.invalid';
const maintainer = `Concertina contributors <${GITHUB_REPOSITORY ? `${GITHUB_REPOSITORY.split('/')[0]}@users.noreply.github.com` : 'nobody@concertina.invalid'}>`;

/**
 * What concertina and concertina.node link or load, for a system without a desktop too. `npm run test:packages` installs the deb
 * in a bare Debian and compares both lists with what the files ask for. A driver's own library (Vulkan, CUDA) is never among them.
 */
const LIBRARIES = {
  deb: [
    ...['libc6 (>= 2.34)', 'libstdc++6 (>= 12)', 'libgcc-s1', 'libgomp1'],
    ...['libgtk-3-0 | libgtk-3-0t64', 'libnss3', 'libasound2 | libasound2t64', 'libgbm1', 'libdrm2', 'libcups2 | libcups2t64'],
    ...['libatk-bridge2.0-0 | libatk-bridge2.0-0t64', 'libatspi2.0-0 | libatspi2.0-0t64', 'libxkbcommon0', 'libxcomposite1'],
    ...['libxdamage1', 'libxfixes3', 'libxrandr2', 'libx11-6', 'libx11-xcb1', 'libxcb1', 'libxext6', 'libexpat1', 'libdbus-1-3'],
    ...['libsecret-1-0', 'libnotify4', 'xdg-utils'],
  ],
  // by the names of the libraries: what packages are called differs between Fedora and openSUSE
  rpm: [
    ...['libc.so.6', 'libstdc++.so.6', 'libgcc_s.so.1', 'libgomp.so.1', 'libgtk-3.so.0', 'libnss3.so', 'libasound.so.2'],
    ...['libgbm.so.1', 'libdrm.so.2', 'libcups.so.2', 'libatk-bridge-2.0.so.0', 'libatspi.so.0', 'libxkbcommon.so.0'],
    ...['libXcomposite.so.1', 'libXdamage.so.1', 'libXfixes.so.3', 'libXrandr.so.2', 'libX11.so.6', 'libX11-xcb.so.1', 'libxcb.so.1'],
    ...['libXext.so.6', 'libexpat.so.1', 'libdbus-1.so.3', 'libsecret-1.so.0', 'libnotify.so.4'],
  ].map((name) => `${name}()(64bit)`).concat('xdg-utils'),
};
/** Besides what electron-builder lays out: the license where Debian's policy wants it, icons of other sizes. */
const FILES = [
  `${path.join(__dirname, 'LICENSE')}=/usr/share/doc/concertina/copyright`,
  ...[64, 256].map(
    (size) =>
      `${path.join(__dirname, 'assets', 'icons', `icon-${size}.png`)}=/usr/share/icons/hicolor/${size}x${size}/apps/concertina.png`,
  ),
];

/**
 * The server that the app asks for new versions, if a person wants that: CONCERTINA_UPDATE_URL, as the workflow of a release sets
 * it. Without, the packages have none to ask (no app-update.yml) and say so. Plain HTTP would let anyone on the way answer.
 */
const updateUrl = process.env.CONCERTINA_UPDATE_URL;
if (updateUrl && !updateUrl.startsWith('https://')) throw new Error('CONCERTINA_UPDATE_URL must begin with https://');

/** @type {import('electron-builder').Configuration} */
module.exports = {
  appId: 'app.concertina.desktop',
  productName: 'Concertina',
  executableName: 'concertina',
  extraMetadata: { homepage },
  directories: { output: 'release', buildResources: 'electron/packaging' },
  files: ['build/app/**', 'package.json', '!**/*.map'],
  asar: true,
  publish: updateUrl ? [{ provider: 'generic', url: updateUrl }] : null,
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
  icon: 'assets/icons/icon-512.png',
  artifactName: 'concertina-${version}-${os}-${arch}.${ext}',
  fileAssociations: [
    { ext: 'gguf', name: 'GGUF model', description: 'Language model (GGUF)', mimeType: 'application/x-gguf', role: 'Viewer' },
  ],

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
    // two apps, for arm64 and x64, instead of a universal one: half the download
    target: ['dmg', 'zip'],
    hardenedRuntime: true,
    gatekeeperAssess: false,
    entitlements: 'electron/packaging/entitlements.mac.plist',
    entitlementsInherit: 'electron/packaging/entitlements.mac.plist',
    // electron-builder notarizes where APPLE_API_KEY, APPLE_API_KEY_ID and APPLE_API_ISSUER are set, and says so where not
  },
  win: { target: ['nsis', 'zip'] },
  nsis: { oneClick: false, perMachine: false, allowToChangeInstallationDirectory: true },
  // AppImage is asked for by the hosted workflow alone (electron/dist.mjs --appimage): its runtime is a download
  linux: {
    target: ['deb', 'rpm'],
    category: 'Utility',
    icon: 'assets/icons/icon-512.png',
    maintainer,
    vendor: 'Concertina contributors',
    synopsis: 'Chat with local language models over very long documents',
    description: 'Concertina runs language models on this machine and compresses their KV cache, so that long documents fit.',
    desktop: { entry: { StartupWMClass: 'Concertina', Keywords: 'LLM;GGUF;chat;' } },
  },
  deb: {
    packageName: 'concertina',
    artifactName: 'concertina_${version}_${arch}.${ext}',
    packageCategory: 'utils',
    depends: LIBRARIES.deb,
    // libvulkan1: the loader, which a driver brings or the system has; the engine opens it at run time
    recommends: ['fonts-dejavu-core', 'libvulkan1'],
    afterRemove: 'electron/packaging/linux/after-remove.tpl',
    fpm: FILES,
  },
  rpm: {
    packageName: 'concertina',
    artifactName: 'concertina-${version}.${arch}.${ext}',
    packageCategory: 'Applications/Productivity',
    depends: LIBRARIES.rpm,
    afterRemove: 'electron/packaging/linux/after-remove.tpl',
    fpm: FILES,
  },
};
