import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { Plugin } from 'rolldown';

const asUsed = '\0undici-as-used:';

/** What services use of undici, by where it is below its `lib`. */
const used = {
  'dispatcher/client.js': 'Client',
  'dispatcher/dispatcher.js': 'Dispatcher',
  'dispatcher/pool.js': 'Pool',
  'core/connect.js': 'buildConnector',
  'core/errors.js': 'errors',
};

/**
 * Takes of undici what services use. Its index loads `fetch`, web sockets, caches and mocks beside. To import another name fails the
 * build.
 */
export const usedUndici: Plugin = {
  name: 'used-undici',
  resolveId(wanted, importer) {
    if (wanted !== 'undici' || importer === undefined) return null;
    return `${asUsed}${dirname(createRequire(importer).resolve('undici/package.json'))}`;
  },
  load(id) {
    if (!id.startsWith(asUsed)) return null;
    const from = (path: string) => JSON.stringify(`${id.slice(asUsed.length)}/lib/${path}`);
    return [
      ...Object.entries(used).map(([path, name]) => `import ${name} from ${from(path)};`),
      `import methods from ${from('api/index.js')};`,
      // As undici's own index does.
      'Object.assign(Dispatcher.prototype, methods);',
      `export { ${Object.values(used).join(', ')} };`,
    ].join('\n');
  },
};
