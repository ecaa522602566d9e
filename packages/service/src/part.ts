/**
 * Something that a service is built of and that has to be opened or closed. A
 * service is a list of them, each after those it needs: they start in this
 * order and stop in the reverse. Nothing opens or ticks before its `start`.
 */
export interface Part {
  /** For the log, when it cannot be started or closed. */
  readonly name: string;
  /** Resolves when those after it may start, soon when `stopping` aborts. */
  start?(stopping: AbortSignal): void | Promise<void>;
  /** Whether the service may say that it is ready; asked again until it does. Not given = it has nothing to wait for. */
  isReady?(): boolean;
  /** Readiness says no from now on; everything is still taken for `SHUTDOWN_DELAY`, until load balancers have noticed. */
  retire?(): void;
  /** Takes nothing new, and lets what is under way end, for at most so long. All parts at once, before any stops. */
  drain?(deadlineMs: number): void | Promise<void>;
  /** Lets go of everything, within the deadline. Called also when `start` failed half-way. */
  stop?(deadlineMs: number): unknown;
  /** What it shows of itself in the metrics. */
  gauges?(): readonly Gauge[];
  /** Where it listens once it has started, by the names of the ready line. */
  ports?(): Ports;
}

/** Read when somebody asks for the metrics. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly read: () => number;
}

/** `port` is where callers come; operators and other services have ports of their own. */
export interface Ports {
  readonly port?: number;
  readonly mcp_port?: number;
  readonly grpc_port?: number;
  readonly metrics_port?: number;
}
