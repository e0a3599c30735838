/**
 * What pdf.js looks for when it is loaded; import it before pdf.js. Our thread is the worker of pdf.js already, so it gets
 * none of its own. Nothing is drawn, so no canvas is loaded (Node has `process.getBuiltinModule` from 20.16 on; without
 * it pdf.js would try to make a function from a string).
 */
const environment = process as { getBuiltinModule?: (name: string) => unknown };
environment.getBuiltinModule ??= () => undefined;
