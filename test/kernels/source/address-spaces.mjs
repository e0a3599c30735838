// Finds pointers and references declared without an address space. Metal refuses them; C++ for OpenCL makes them __generic and
// accepts, so CHECK mode alone does not see them. Reads clang's syntax tree.

const DECLARATIONS = new Set(['ParmVarDecl', 'VarDecl', 'FieldDecl']);
const CASTS = new Set(['CStyleCastExpr', 'CXXStaticCastExpr', 'CXXReinterpretCastExpr', 'CXXFunctionalCastExpr']);
const SPACES = ['__global', '__constant', '__local', '__private'];

/**
 * @param {object} tree of `clang -ast-dump=json`
 * @param {(file: string) => boolean} isOurs which files to look at
 * @returns {string[]} one line each: "file:line: name: type"
 */
export function genericPointers(tree, isOurs) {
  const place = { file: '', line: 0 };
  const found = new Set();
  visit(tree, place, (node, { file, line }) => {
    if (!isOurs(file)) return;
    const type = node.type?.qualType ?? '';
    const declared = DECLARATIONS.has(node.kind) && node.name && isGeneric(type);
    if (declared || (CASTS.has(node.kind) && isGeneric(type)))
      found.add(`${file}:${line}: ${node.name ?? 'cast'}: ${type}`);
  });
  return [...found];
}

/** Types of functions carry brackets and have no address space themselves; those of references to arrays do: T (&)[N]. */
function isGeneric(written) {
  const type = written.replace(/\(([*&])\)(?=\[)/, '$1');
  if (type.includes('(') || !/[*&]/.test(type)) return false;
  if (type.includes('__generic')) return true;
  return !type.includes('auto') && !SPACES.some((space) => type.split(/[*&]/)[0].includes(space));
}

function visit(node, place, body) {
  if (!node || typeof node !== 'object') return;
  move(place, node.loc);
  const at = { ...place };
  move(place, node.range?.begin);
  move(place, node.range?.end);
  if (!node.isImplicit) body(node, node.loc ? at : place);
  for (const child of node.inner ?? []) visit(child, place, body);
}

/** The dumper leaves out file and line where they are those of the location printed before. */
function move(place, location = {}) {
  for (const part of ['spellingLoc', 'expansionLoc']) if (location[part]) move(place, location[part]);
  const file = location.presumedFile ?? location.file;
  const line = location.presumedLine ?? location.line;
  if (file) place.file = file;
  if (line) place.line = line;
}
