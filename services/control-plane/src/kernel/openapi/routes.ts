import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Router } from 'express';
import manifest from '../../../package.json' with { type: 'json' };
import { buildDocument } from './build-document.ts';
import { page, pageAssets, pagePolicy, startScript } from './page.ts';

/** Open to all: the description of the admin API, and the page that shows it. */
export function openApiRoutes(options: { headerPrefix: string }): Router {
  let document: Buffer | undefined;
  const router = Router();
  router.get('/v1/openapi.json', (_req, res) => {
    // Made when it is first asked for: starting is quicker without it. Kept as it is sent.
    document ??= Buffer.from(
      JSON.stringify(buildDocument({ version: manifest.version, ...options })),
    );
    res.type('json').send(document);
  });
  router.get('/v1/docs', (_req, res) => {
    res.redirect('/docs');
  });
  router.get('/docs', (_req, res) => {
    res.setHeader('content-security-policy', pagePolicy);
    res.type('html').send(page);
  });
  router.get(`/docs/${pageAssets.start}`, (_req, res) => {
    res.type('js').send(startScript);
  });
  for (const [name, url] of viewer) {
    const file = fileURLToPath(url);
    // Below a root: folders above it may begin with a dot, as those of pnpm do.
    const options = { root: dirname(file), maxAge: '1h' };
    router.get(`/docs/${name}`, (_req, res) => {
      res.sendFile(basename(file), options);
    });
  }
  return router;
}

const viewer = [
  [pageAssets.style, import.meta.resolve('swagger-ui-dist/swagger-ui.css')],
  [pageAssets.bundle, import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')],
] as const;
