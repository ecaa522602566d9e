import { adminEndpoints, type OperationId } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { PriceBook } from '@sluice/pricing';
import type { Logger } from '@sluice/telemetry';
import express, { type Express, Router } from 'express';
import helmet from 'helmet';
import { accessLog } from './kernel/http/access-log.ts';
import { type HealthParts, healthRoutes } from './kernel/http/health.ts';
import type { Implemented } from './kernel/http/implement.ts';
import { mountOperations, type OperationParts } from './kernel/http/operation.ts';
import { followPathAliases } from './kernel/http/path-aliases.ts';
import { mountPublicOperations, type PublicOperation } from './kernel/http/public-operation.ts';
import { renderError } from './kernel/http/render-error.ts';
import { type RequestContextParts, requestContext } from './kernel/http/request-context.ts';
import { routeNotFound } from './kernel/http/route-not-found.ts';
import { openApiRoutes } from './kernel/openapi/routes.ts';
import { exportFileRoutes, type FileParts } from './ledger/log-exports/file-routes.ts';
import { type OtelParts, otelRoutes } from './ledger/otel/routes.ts';
import { modelPricingRoutes } from './models/model-pricing/routes.ts';
import { type OauthParts, oauthRoutes } from './oauth/routes.ts';

export interface AppParts {
  logger: Logger;
  isOutage: (error: unknown) => boolean;
  /** `LOG_REQUESTS`. */
  logsRequests: boolean;
  requestContext: RequestContextParts;
  /** The one that callers are told of. */
  publicHeaderPrefix: string;
  operations: Implemented<OperationId>;
  publicOperations: readonly PublicOperation[];
  operationParts: OperationParts;
  exportFiles: FileParts;
  otel: OtelParts;
  oauth: OauthParts;
  health: HealthParts;
  /** False while the database is waited for. */
  isServing: () => boolean;
  priceBook: PriceBook;
}

/** The HTTP side: middleware in order, the operations under /v1, the error renderer last. */
export function createApp(parts: AppParts): Express {
  const app = express();
  app.disable('etag');
  app.use(helmet());
  app.use(requestContext(parts.requestContext));
  if (parts.logsRequests) app.use(accessLog(parts.logger));
  app.use(healthRoutes(parts.health));
  app.use((_req, _res, next) => {
    if (parts.isServing()) return next();
    throw new GatewayError('admin.control_plane_unavailable', {
      message: 'The control plane waits for its database; GET /health/ready says what for.',
      headers: { 'retry-after': '2' },
    });
  });
  app.use(followPathAliases);
  app.use(openApiRoutes({ headerPrefix: parts.publicHeaderPrefix }));
  app.use(modelPricingRoutes(parts.priceBook, parts.operationParts.now));
  app.use(exportFileRoutes(parts.exportFiles));
  app.use(otelRoutes(parts.otel));
  app.use(oauthRoutes(parts.oauth));
  const v1 = Router();
  mountPublicOperations(v1, parts.publicOperations, parts.operationParts);
  mountOperations({ v1, root: app }, Object.values(parts.operations), parts.operationParts);
  app.use('/v1', v1);
  app.use(routeNotFound(Object.values(adminEndpoints)));
  app.use(renderError(parts.logger, parts.isOutage));
  return app;
}
