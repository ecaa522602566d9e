import { rootSegment } from '@sluice/contracts';
import type { RequestHandler } from 'express';

/** Paths that are also known by another name. */
const aliases: readonly (readonly [alias: RegExp, path: string])[] = [
  [/^\/v1\/log\/exports(?=[/?]|$)/, '/v1/logs/exports'],
  // Clients that are generated from a description know one address for all of its paths.
  ...[rootSegment.prices, `${rootSegment.registry}/servers`].map(
    (path) => [new RegExp(`^/v1/${path.replaceAll('.', '\\.')}(?=[/?]|$)`), `/${path}`] as const,
  ),
];

/** Gives a request its usual path, before anything is routed. */
export const followPathAliases: RequestHandler = (req, _res, next) => {
  for (const [alias, path] of aliases) req.url = req.url.replace(alias, path);
  next();
};
