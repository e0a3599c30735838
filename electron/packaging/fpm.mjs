#!/usr/bin/env node
// Stands where electron-builder calls fpm (CUSTOM_FPM_PATH, set by electron/dist.mjs), and makes the deb with dpkg-deb and the
// rpm with rpmbuild: fpm would be a download of a whole Ruby. Everything that is in a package, down to its fields, comes from
// electron-builder, in the words of fpm's command line; one that is not known here is refused.
// CLI: electron/packaging/fpm.mjs -s dir -t deb|rpm --package FILE --name NAME ... SOURCE=TARGET ...

import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { cli, must, PrepareError } from '../../native/prepare/process.mjs';

const text = /** @type {const} */ ({ type: 'string' });
const list = /** @type {const} */ ({ type: 'string', multiple: true, default: [] });

/** The part of fpm's options that electron-builder uses. */
const OPTIONS = {
  ...{ source: { ...text, short: 's' }, target: { ...text, short: 't' }, force: { type: 'boolean' }, package: text },
  ...{ name: text, version: text, iteration: text, architecture: text, maintainer: text, vendor: text, url: text },
  ...{ license: text, category: text, description: text, depends: { ...list, short: 'd' } },
  ...{ 'deb-recommends': list, 'deb-priority': text, 'deb-compression': text },
  ...{ 'rpm-summary': text, 'rpm-os': text, 'rpm-compression': text, 'after-install': text, 'after-remove': text },
};

/**
 * @typedef {{target: 'deb' | 'rpm', output: string, name: string, version: string, release: string, architecture: string,
 *   maintainer: string, vendor: string, url: string, license: string, category: string, summary: string, description: string[],
 *   depends: string[], recommends: string[], priority: string, compression: string, scripts: {install: string, remove: string},
 *   inputs: {from: string, to: string}[]}} Order summary: one line; description: the lines below it
 */

/** @param {string[]} args as fpm gets them @returns {Order} */
export function orderOf(args) {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true, strict: true });
  const { target } = values;
  if (values.source !== 'dir' || (target !== 'deb' && target !== 'rpm')) {
    throw new PrepareError(`fpm is asked for ${values.source} to ${target}, and makes only dir to deb or rpm here.`);
  }
  // of deb both in one: the first line is the summary
  const [first = '', ...rest] = (values.description ?? '').split('\n').map((line) => line.trim());
  const deb = target === 'deb';
  return {
    target,
    output: required(values, 'package'),
    name: required(values, 'name'),
    version: required(values, 'version'),
    release: values.iteration ?? '1',
    architecture: architectureOf(target, required(values, 'architecture')),
    maintainer: required(values, 'maintainer'),
    vendor: values.vendor ?? '',
    url: required(values, 'url'),
    license: values.license ?? '',
    category: required(values, 'category'),
    summary: deb ? first : (values['rpm-summary'] ?? first),
    description: (deb ? rest : [first, ...rest]).filter((line) => line !== ''),
    depends: values.depends,
    recommends: values['deb-recommends'],
    priority: values['deb-priority'] ?? 'optional',
    compression: values[deb ? 'deb-compression' : 'rpm-compression'] ?? 'xz',
    scripts: { install: required(values, 'after-install'), remove: required(values, 'after-remove') },
    inputs: positionals.map((pair) => {
      const at = pair.lastIndexOf('=');
      return { from: pair.slice(0, at), to: pair.slice(at + 1) };
    }),
  };
}

/** electron-builder says it in Debian's words for both. */
const architectureOf = (target, name) =>
  target === 'rpm' ? ({ amd64: 'x86_64', arm64: 'aarch64' }[name] ?? name) : name;

function required(values, name) {
  if (!values[name]) throw new PrepareError(`fpm is called without --${name}.`);
  return values[name];
}

/** Debian's control file. @param {Order} order @param {number} bytes of all files */
export function controlFile(order, bytes) {
  const fields = {
    Package: order.name,
    Version: order.version,
    License: order.license,
    Vendor: order.vendor,
    Architecture: order.architecture,
    Maintainer: order.maintainer,
    'Installed-Size': String(Math.ceil(bytes / 1024)),
    Depends: order.depends.join(', '),
    Recommends: order.recommends.join(', '),
    Section: order.category,
    Priority: order.priority,
    Homepage: order.url,
    Description: [order.summary, ...order.description.map((line) => ` ${line}`)].join('\n'),
  };
  const lines = Object.entries(fields).filter(([, value]) => value !== '');
  return `${lines.map(([name, value]) => `${name}: ${value}`).join('\n')}\n`;
}

/** xz is what is released; gzip is for tests in a hurry, and takes its lowest level. */
const RPM_PAYLOADS = { xz: 'w6T0.xzdio', xzmt: 'w6T0.xzdio', gzip: 'w1.gzdio' };
const DEB_COMPRESSION = { xz: ['-Zxz'], gz: ['-Zgzip', '-z1'] };

/** @param {Order} order @param {string} staging the tree to pack @param {string[]} files its paths, folders for all in them */
export function specFile(order, staging, files) {
  const payload = RPM_PAYLOADS[order.compression];
  if (!payload) throw new PrepareError(`rpm cannot be compressed with ${order.compression}.`);
  // else its folder of documentation would stay, empty
  const own = files
    .map((file) => path.posix.dirname(file))
    .filter((folder) => path.posix.basename(folder) === order.name);
  return `%global _binary_payload ${payload}
%global _build_id_links none
%global __os_install_post %{nil}
%global debug_package %{nil}
Name: ${order.name}
Version: ${order.version}
Release: ${order.release}
Summary: ${order.summary}
License: ${order.license}
Vendor: ${order.vendor}
Packager: ${order.maintainer}
URL: ${order.url}
Group: ${order.category}
AutoReqProv: no
${order.depends.map((name) => `Requires: ${name}`).join('\n')}

%description
${order.description.join('\n')}

%install
mkdir -p %{buildroot}
cp -a '${staging}'/. %{buildroot}/

%post -p /bin/bash
${forSpec(order.scripts.install)}
%postun -p /bin/bash
${forSpec(order.scripts.remove)}
%files
%defattr(-,root,root,-)
${[...new Set(own)].map((folder) => `%dir "${folder}"`).join('\n')}
${files.map((file) => `"${file}"`).join('\n')}
`;
}

/** A scriptlet has no first line of its own, and % begins a macro. */
const forSpec = (file) =>
  `${fs
    .readFileSync(file, 'utf8')
    .replace(/^#!.*\n/, '')
    .replaceAll('%', '%%')
    .trimEnd()}\n`;

/** Lays the files out as they will be installed. @returns {string[]} where, a folder for all in it */
function stage(inputs, staging) {
  return inputs.map(({ from, to }) => {
    const target = path.join(staging, to);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.cpSync(from, target, { recursive: true, verbatimSymlinks: true });
    return to;
  });
}

/** Whoever packs may have a strict umask: what is installed can be read by all and written by root. */
function* filesIn(folder, inner = '') {
  fs.chmodSync(path.join(folder, inner), 0o755);
  for (const entry of fs.readdirSync(path.join(folder, inner), { withFileTypes: true })) {
    const file = path.join(inner, entry.name);
    if (entry.isDirectory()) yield* filesIn(folder, file);
    else {
      const full = path.join(folder, file);
      if (entry.isFile()) fs.chmodSync(full, fs.statSync(full).mode & 0o100 ? 0o755 : 0o644);
      yield { file, full, entry };
    }
  }
}

async function makeDeb(order, staging) {
  let bytes = 0;
  const sums = [];
  for (const { file, full, entry } of filesIn(staging)) {
    if (!entry.isFile()) continue;
    const content = fs.readFileSync(full);
    bytes += content.length;
    sums.push(`${crypto.createHash('md5').update(content).digest('hex')}  ${file}\n`);
  }
  const control = path.join(staging, 'DEBIAN');
  fs.mkdirSync(control);
  fs.writeFileSync(path.join(control, 'control'), controlFile(order, bytes));
  fs.writeFileSync(path.join(control, 'md5sums'), sums.join(''));
  for (const [name, script] of [
    ['postinst', order.scripts.install],
    ['postrm', order.scripts.remove],
  ]) {
    fs.copyFileSync(script, path.join(control, name));
    fs.chmodSync(path.join(control, name), 0o755);
  }
  const compression = DEB_COMPRESSION[order.compression];
  if (!compression) throw new PrepareError(`A deb is not compressed with ${order.compression} here.`);
  await must('Making the deb', 'dpkg-deb', [...compression, '--root-owner-group', '--build', staging, order.output]);
}

async function makeRpm(order, staging, files) {
  for (const _ of filesIn(staging));
  const top = `${staging}-rpmbuild`;
  fs.mkdirSync(top);
  try {
    const spec = path.join(top, `${order.name}.spec`);
    fs.writeFileSync(spec, specFile(order, staging, files));
    const defines = { _topdir: top, _rpmdir: top, _rpmfilename: 'made.rpm' };
    await must('Making the rpm', 'rpmbuild', [
      ...Object.entries(defines).flatMap(([name, value]) => ['--define', `${name} ${value}`]),
      ...['--target', `${order.architecture}-linux`, '-bb', spec],
    ]);
    fs.renameSync(path.join(top, 'made.rpm'), order.output);
  } finally {
    fs.rmSync(top, { recursive: true, force: true });
  }
}

cli(import.meta.url, async (args) => {
  const order = orderOf(args);
  const staging = fs.mkdtempSync(`${path.resolve(order.output)}.`);
  try {
    const files = stage(order.inputs, staging);
    await (order.target === 'deb' ? makeDeb(order, staging) : makeRpm(order, staging, files));
  } finally {
    fs.rmSync(staging, { recursive: true, force: true });
  }
});
