import type { RequestHandler } from 'express';

/** Paths that are also known by another name. */
const aliases: readonly (readonly [alias: RegExp, path: string])[] = [
  [/^\/v1\/log\/exports(?=[/?]|$)/, '/v1/logs/exports'],
];

/** Gives a request its usual path, before anything is routed. */
export const followPathAliases: RequestHandler = (req, _res, next) => {
  for (const [alias, path] of aliases) req.url = req.url.replace(alias, path);
  next();
};
