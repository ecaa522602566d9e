import type { Logger } from '@sluice/telemetry';
import express, { type Express, Router } from 'express';
import helmet from 'helmet';
import { type HealthParts, healthRoutes } from './health/routes.ts';
import { mountOperations, type Operation, type OperationParts } from './http/operation.ts';
import { followPathAliases } from './http/path-aliases.ts';
import { mountPublicOperations, type PublicOperation } from './http/public-operation.ts';
import { renderError, routeNotFound } from './http/render-error.ts';
import { type RequestContextParts, requestContext } from './http/request-context.ts';
import { modelPricingRoutes } from './model-pricing/routes.ts';
import { openApiRoutes } from './openapi/routes.ts';

export interface AppParts {
  logger: Logger;
  requestContext: RequestContextParts;
  /** The one that callers are told of. */
  publicHeaderPrefix: string;
  operations: readonly Operation[];
  publicOperations: readonly PublicOperation[];
  operationParts: OperationParts;
  health: HealthParts;
}

/** The HTTP side: middleware in order, the operations under /v1, the error renderer last. */
export function createApp(parts: AppParts): Express {
  const app = express();
  app.disable('etag');
  app.use(helmet());
  app.use(requestContext(parts.requestContext));
  app.use(healthRoutes(parts.health));
  app.use(openApiRoutes({ headerPrefix: parts.publicHeaderPrefix }));
  app.use(modelPricingRoutes(parts.operationParts.now));
  app.use(followPathAliases);
  const v1 = Router();
  mountPublicOperations(v1, parts.publicOperations, parts.operationParts);
  mountOperations({ v1, root: app }, parts.operations, parts.operationParts);
  app.use('/v1', v1);
  app.use(routeNotFound);
  app.use(renderError(parts.logger));
  return app;
}
