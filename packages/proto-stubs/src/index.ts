/**
 * Generated messages and service descriptors of `proto/`. Run
 * `npm run generate` after changing a .proto file; never edit `gen/`.
 */
export * as callers from './gen/gateway/gateway_pb.js';
export * as reflection from './gen/grpc/reflection/v1/reflection_pb.js';
export * as analytics from './gen/sluice/analytics/v1/analytics_pb.js';
export * as config from './gen/sluice/config/v1/config_pb.js';
export * as jobs from './gen/sluice/jobs/v1/jobs_pb.js';
export * as usage from './gen/sluice/usage/v1/usage_pb.js';
