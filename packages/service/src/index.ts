/** The skeleton of a service: settings, parts in order, ports, signals, deadlines, exit codes. */
export { airGapPart } from './air-gap-part.ts';
export { certificatesPart } from './certificates-part.ts';
export { type HttpPartOptions, httpPart } from './http-part.ts';
export { createHttpServer } from './http-server.ts';
export { forwardLog } from './log-forward.ts';
export type { Gauge, Part, Ports } from './part.ts';
export { createPartnerWatch } from './partner-watch.ts';
export { notePassingBytes } from './passing-bytes.ts';
export { createRpcMetrics } from './rpc-metrics.ts';
export { rpcPart, served } from './rpc-part.ts';
export {
  liveService,
  type RunServiceOptions,
  runService,
  type ServiceLife,
} from './run-service.ts';
export {
  type RunningService,
  type ServiceEnv,
  type ServiceTools,
  startService,
} from './start-service.ts';
export {
  answerUnreadable,
  endByHand,
  type UnreadableStatus,
  type WrittenAnswer,
} from './unreadable-requests.ts';
