import {
  addCalls,
  type BreakerCounts,
  type BreakerPhase,
  type BreakerRule,
  breakerPhase,
  shouldOpen,
} from '@sluice/engine';
import { RecentMap } from '../../chain/recent-map.ts';
import type { CircuitKeeper, OpenCircuit, SharedCircuits } from './shared-circuits.ts';

/** A half-open circuit that nobody tries for so long is forgotten. */
const halfOpenKeptMs = 3_600_000;
const probeDeadlineMaxMs = 60_000;
const sweepEveryMs = 1000;
/** Looked at in one sweep: a millisecond at most. */
const sweepMax = 5000;
const nothingCounted: BreakerCounts = { failures: 0, successes: 0, sinceMs: 0 };

interface Circuit {
  readonly configId: string;
  readonly path: string;
  /** The rule it last counted by. Of one that was opened elsewhere only the cooldown is known. */
  rule: BreakerRule;
  counts: BreakerCounts;
  /** Unix ms; 0 = closed. */
  openedAtMs: number;
  /** Unix ms; a call that tries a half-open circuit is on its way until then. */
  probeUntilMs: number;
}

/** The circuits of one config that are open or half-open. */
interface OpenedCircuits {
  readonly circuits: Map<string, Circuit>;
  /** Answer of `openTargets`, kept until time or an event changes it. */
  view: ReadonlySet<string> | undefined;
  viewUntilMs: number;
}

export interface CircuitState {
  readonly configId: string;
  readonly path: string;
  readonly phase: BreakerPhase;
  readonly failures: number;
  readonly successes: number;
  /** Unix ms; 0 = closed. */
  readonly openedAtMs: number;
  /** End of the cooldown, Unix ms; 0 = closed. */
  readonly closesAtMs: number;
}

/**
 * The circuits of targets, as this gateway knows them. Opens on its own counts
 * at once; with `shared`, also on the counts of all gateways together, and on
 * what others opened.
 *
 * After the cooldown one call tries the target; its success closes the circuit,
 * its failure opens it for another cooldown. A try that is abandoned, or reports
 * nothing for a cooldown (at most a minute), gives way to the next one. Each gateway tries
 * for itself. Calls reported while a circuit is open began before it opened, or
 * were made because all were open: they count for nothing.
 *
 * Targets that never fail cost no memory where only failures matter.
 */
export class CircuitBreakers {
  readonly #circuits: RecentMap<Circuit>;
  readonly #opened = new Map<string, OpenedCircuits>();
  readonly #shared: SharedCircuits | undefined;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Iterator<Circuit> | undefined;
  /** How often a circuit opened since start, here or elsewhere. For metrics. */
  openings = 0;

  /** `now` is Unix ms and should not jump; the default does not. */
  constructor(options: { shared?: SharedCircuits; now?: () => number; entriesMax?: number } = {}) {
    this.#shared = options.shared;
    this.#now = options.now ?? (() => performance.timeOrigin + performance.now());
    this.#circuits = new RecentMap(options.entriesMax ?? 100_000);
  }

  /** Circuits held, closed ones included. */
  get size(): number {
    return this.#circuits.size;
  }

  /** Circuits that are open or half-open. */
  get openCount(): number {
    let count = 0;
    for (const { circuits } of this.#opened.values()) count += circuits.size;
    return count;
  }

  /** Learns from other gateways, and forgets what is over. */
  start(): void {
    this.#shared?.start(this.#keeper());
    this.#timer = setInterval(() => this.#sweep(), sweepEveryMs);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#shared?.close();
  }

  /**
   * Paths of the targets of this saved config that are to be left out now: open
   * ones, and half-open ones that a call is trying. Undefined = none.
   */
  openTargets(configId: string): ReadonlySet<string> | undefined {
    const opened = this.#opened.get(configId);
    if (opened === undefined) return undefined;
    const nowMs = this.#now();
    if (nowMs >= opened.viewUntilMs) renewView(opened, nowMs);
    return opened.view;
  }

  /** A call to this target begins. True = of a half-open circuit, it is the one that tries. */
  begin(configId: string, path: string): boolean {
    const opened = this.#opened.get(configId);
    const circuit = opened?.circuits.get(path);
    if (opened === undefined || circuit === undefined) return false;
    const nowMs = this.#now();
    if (phaseOf(circuit, nowMs) !== 'half-open' || circuit.probeUntilMs > nowMs) return false;
    circuit.probeUntilMs = nowMs + Math.min(circuit.rule.cooldownMs, probeDeadlineMaxMs);
    opened.viewUntilMs = 0;
    return true;
  }

  /** The call that tried ended without saying anything: the next one tries. */
  abandon(configId: string, path: string): void {
    const opened = this.#opened.get(configId);
    const circuit = opened?.circuits.get(path);
    if (opened === undefined || circuit === undefined) return;
    circuit.probeUntilMs = 0;
    opened.viewUntilMs = 0;
  }

  report(configId: string, path: string, rule: BreakerRule, failed: boolean): void {
    const nowMs = this.#now();
    const held = this.#circuits.use(nameOf(configId, path));
    const phase = held === undefined ? 'closed' : phaseOf(held, nowMs);
    if (held === undefined || phase === 'closed') this.#count(configId, path, rule, failed, nowMs);
    else if (phase === 'half-open') this.#settle(held, rule, failed, nowMs);
  }

  /** For metrics and explain. Targets of which nothing is known are not listed. */
  list(configId?: string): CircuitState[] {
    const nowMs = this.#now();
    const states: CircuitState[] = [];
    for (const circuit of this.#circuits.values()) {
      if (configId !== undefined && circuit.configId !== configId) continue;
      if (isOver(circuit, nowMs)) continue;
      const isClosed = circuit.openedAtMs === 0;
      states.push({
        configId: circuit.configId,
        path: circuit.path,
        phase: phaseOf(circuit, nowMs),
        failures: circuit.counts.failures,
        successes: circuit.counts.successes,
        openedAtMs: Math.round(circuit.openedAtMs),
        closesAtMs: isClosed ? 0 : Math.round(circuit.openedAtMs + circuit.rule.cooldownMs),
      });
    }
    return states;
  }

  #count(configId: string, path: string, rule: BreakerRule, failed: boolean, nowMs: number): void {
    const held = this.#circuits.peek(nameOf(configId, path));
    // Counting begins with the first failure where successes decide nothing.
    const isIdle = held === undefined || isOver(held, nowMs);
    if (isIdle && !failed && rule.failurePercentage === undefined) return;
    const circuit = held ?? this.#add(configId, path, rule);
    if (circuit.openedAtMs !== 0) this.#shut(circuit);
    circuit.rule = rule;
    circuit.counts = addCalls(rule, circuit.counts, failed ? 1 : 0, failed ? 0 : 1, nowMs);
    if (shouldOpen(rule, circuit.counts)) {
      this.#openHere(circuit, nowMs);
    } else if (failed || rule.failurePercentage !== undefined) {
      this.#shared?.count(configId, path, rule, failed);
    }
  }

  #settle(circuit: Circuit, rule: BreakerRule, failed: boolean, nowMs: number): void {
    circuit.rule = rule;
    if (failed) {
      this.#openHere(circuit, nowMs);
    } else {
      this.#shut(circuit);
      this.#shared?.closed(circuit.configId, circuit.path, rule);
    }
  }

  #openHere(circuit: Circuit, nowMs: number): void {
    this.openings++;
    this.#open(circuit, nowMs);
    const { configId, path, rule } = circuit;
    this.#shared?.opened({ configId, path, rule, closesInMs: rule.cooldownMs });
  }

  #add(configId: string, path: string, rule: BreakerRule): Circuit {
    const circuit: Circuit = {
      configId,
      path,
      rule,
      counts: nothingCounted,
      openedAtMs: 0,
      probeUntilMs: 0,
    };
    const pushedOut = this.#circuits.set(nameOf(configId, path), circuit);
    if (pushedOut !== undefined) this.#shut(pushedOut);
    return circuit;
  }

  #open(circuit: Circuit, openedAtMs: number): void {
    circuit.openedAtMs = openedAtMs;
    circuit.probeUntilMs = 0;
    const opened = this.#opened.get(circuit.configId);
    if (opened === undefined) {
      const circuits = new Map([[circuit.path, circuit]]);
      this.#opened.set(circuit.configId, { circuits, view: undefined, viewUntilMs: 0 });
    } else {
      opened.circuits.set(circuit.path, circuit);
      opened.viewUntilMs = 0;
    }
  }

  /** Closes it and counts anew. */
  #shut(circuit: Circuit): void {
    circuit.counts = nothingCounted;
    circuit.openedAtMs = 0;
    circuit.probeUntilMs = 0;
    const opened = this.#opened.get(circuit.configId);
    if (opened === undefined || !opened.circuits.delete(circuit.path)) return;
    opened.viewUntilMs = 0;
    if (opened.circuits.size === 0) this.#opened.delete(circuit.configId);
  }

  /** Goes through all circuits, a part at a time, and forgets those of which nothing is left. */
  #sweep(): void {
    const nowMs = this.#now();
    this.#sweeping ??= this.#circuits.values();
    for (let looked = 0; looked < sweepMax; looked++) {
      const { value: circuit, done } = this.#sweeping.next();
      if (done) {
        this.#sweeping = undefined;
        return;
      }
      if (!isOver(circuit, nowMs)) continue;
      this.#shut(circuit);
      this.#circuits.delete(nameOf(circuit.configId, circuit.path));
    }
  }

  #keeper(): CircuitKeeper {
    return {
      openedElsewhere: (configId, path, closesInMs, cooldownMs) => {
        const held = this.#circuits.peek(nameOf(configId, path));
        const circuit = held ?? this.#add(configId, path, ruleOfCooldown(cooldownMs));
        if (circuit.rule.cooldownMs !== cooldownMs) circuit.rule = ruleOfCooldown(cooldownMs);
        const nowMs = this.#now();
        if (closesInMs > 0 && phaseOf(circuit, nowMs) !== 'open') this.openings++;
        this.#open(circuit, nowMs + closesInMs - cooldownMs);
      },
      closedElsewhere: (configId, path) => {
        const circuit = this.#circuits.peek(nameOf(configId, path));
        if (circuit !== undefined) this.#shut(circuit);
      },
      openCircuits: () => this.#listOpen(),
    };
  }

  *#listOpen(): Iterable<OpenCircuit> {
    const nowMs = this.#now();
    for (const { circuits } of this.#opened.values())
      for (const circuit of circuits.values()) {
        const { configId, path, rule, openedAtMs } = circuit;
        const closesInMs = openedAtMs + rule.cooldownMs - nowMs;
        if (closesInMs > 0) yield { configId, path, rule, closesInMs };
      }
  }
}

function nameOf(configId: string, path: string): string {
  return `${configId}\n${path}`;
}

function phaseOf(circuit: Circuit, nowMs: number): BreakerPhase {
  const phase = breakerPhase(circuit.rule, circuit.openedAtMs, nowMs);
  const keptUntilMs = circuit.openedAtMs + circuit.rule.cooldownMs + halfOpenKeptMs;
  // Not while a call tries it: others are kept away, and its end decides.
  const isForgotten = nowMs >= Math.max(keptUntilMs, circuit.probeUntilMs);
  return phase === 'half-open' && isForgotten ? 'closed' : phase;
}

/** Whether it is closed, and what it counted is too old to matter. */
function isOver(circuit: Circuit, nowMs: number): boolean {
  if (phaseOf(circuit, nowMs) !== 'closed') return false;
  return circuit.openedAtMs !== 0 || nowMs - circuit.counts.sinceMs >= circuit.rule.cooldownMs;
}

function renewView(opened: OpenedCircuits, nowMs: number): void {
  const paths = new Set<string>();
  opened.viewUntilMs = Number.POSITIVE_INFINITY;
  for (const circuit of opened.circuits.values()) {
    const isOpen = phaseOf(circuit, nowMs) === 'open';
    const untilMs = isOpen ? circuit.openedAtMs + circuit.rule.cooldownMs : circuit.probeUntilMs;
    if (untilMs <= nowMs) continue;
    paths.add(circuit.path);
    opened.viewUntilMs = Math.min(opened.viewUntilMs, untilMs);
  }
  opened.view = paths.size === 0 ? undefined : paths;
}

function ruleOfCooldown(cooldownMs: number): BreakerRule {
  return {
    failureThreshold: undefined,
    failurePercentage: undefined,
    minimumRequests: 0,
    cooldownMs,
    failureStatusCodes: undefined,
  };
}
