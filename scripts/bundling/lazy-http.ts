import type { Plugin } from 'rolldown';

const name = /^(?:node:)?http$/;
const asRequired = '\0http-as-required';

/**
 * Takes `node:http` as `require` would. To `import` it reads all that it exports, so that names can be bound, and three of those
 * (`WebSocket`, `CloseEvent`, `MessageEvent`) are getters that load Node's own copy of undici, with HTTP/2 and TLS: 70 ms of CPU of
 * each start, for classes that nobody here uses (lib/http.js, `lazyUndici`).
 */
export const lazyHttp: Plugin = {
  name: 'lazy-http',
  resolveId: (wanted, _importer, { kind }) =>
    name.test(wanted) && kind !== 'require-call' ? asRequired : null,
  load: (id) =>
    id === asRequired ? `module.exports = process.getBuiltinModule('node:http');` : null,
};
