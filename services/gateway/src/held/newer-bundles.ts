import { GatewayError } from '@sluice/errors';
import type { CompiledBundle } from '../compiled/compiled-bundle.ts';

export interface NewerBundlesOptions {
  /** What is held, without waiting. */
  held: (workspaceId: string) => CompiledBundle | undefined;
  /** Asks the control plane for what changed until now. */
  fetch: (workspaceId: string) => Promise<CompiledBundle | undefined>;
  /** Whether the control plane is there to be asked. */
  isConnected: () => boolean;
  /** Between two questions about one workspace. */
  everyMs?: number;
  /** Questions a second about all workspaces, and under way at once. */
  perSecondMax?: number;
  underWayMax?: number;
  timeoutMs?: number;
}

/** What a workspace was last asked about. */
interface Asked {
  readonly atMs: number;
  /** Set where nobody answered: until it is asked again nothing is known. */
  fault: GatewayError | undefined;
}

/** Workspaces whose last question is remembered; without an end they would be a way to fill memory. */
const rememberedMax = 10_000;

/**
 * For names that nobody here knows. What was made a moment ago at another
 * gateway may not have been told here in time: so the control plane is asked
 * once before a name is refused. However many such names are asked for, it is
 * asked no more often than the caps say; in between, what is held is the answer.
 */
export class NewerBundles {
  readonly #options: Required<NewerBundlesOptions>;
  readonly #underWay = new Map<string, Promise<CompiledBundle | undefined>>();
  readonly #asked = new Map<string, Asked>();
  #second = 0;
  #inThisSecond = 0;
  /** Questions since the start. */
  asked = 0;

  constructor(options: NewerBundlesOptions) {
    this.#options = {
      everyMs: 250,
      perSecondMax: 50,
      underWayMax: 16,
      timeoutMs: 1_000,
      ...options,
    };
  }

  /**
   * A state of the workspace after this one; undefined when there is none, or the control plane is not to be asked.
   * @param isSureOnly refuses then as well: for what nobody sends again
   * @throws GatewayError `gateway.bundle_unavailable` when it was asked and did not answer
   */
  async after(bundle: CompiledBundle, isSureOnly = false): Promise<CompiledBundle | undefined> {
    const { workspaceId, hash } = bundle.source;
    const isNewer = (found: CompiledBundle | undefined) =>
      found !== undefined && found.source.hash !== hash ? found : undefined;
    const held = isNewer(this.#options.held(workspaceId));
    return (
      held ?? isNewer(await (this.#underWay.get(workspaceId) ?? this.#ask(workspaceId, isSureOnly)))
    );
  }

  async #ask(workspaceId: string, isSureOnly: boolean): Promise<CompiledBundle | undefined> {
    const now = Date.now();
    const { everyMs, timeoutMs } = this.#options;
    const last = this.#asked.get(workspaceId);
    if (last !== undefined && now - last.atMs < everyMs) {
      if (last.fault !== undefined) throw last.fault;
      return undefined;
    }
    if (!this.#options.isConnected() || !this.#mayAsk(now)) {
      if (isSureOnly) throw unknown();
      return undefined;
    }
    this.asked += 1;
    const asked: Asked = { atMs: now, fault: undefined };
    if (this.#asked.size >= rememberedMax) this.#asked.clear();
    this.#asked.set(workspaceId, asked);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(new Error('the control plane did not answer')),
      timeoutMs,
    );
    const asking = Promise.race([this.#options.fetch(workspaceId), late])
      .catch((error: unknown) => {
        asked.fault = unknown(error);
        throw asked.fault;
      })
      .finally(() => {
        clearTimeout(timer);
        this.#underWay.delete(workspaceId);
      });
    this.#underWay.set(workspaceId, asking);
    return asking;
  }

  #mayAsk(now: number): boolean {
    const { perSecondMax, underWayMax } = this.#options;
    if (this.#underWay.size >= underWayMax) return false;
    const second = Math.floor(now / 1_000);
    if (second !== this.#second) this.#inThisSecond = 0;
    this.#second = second;
    if (this.#inThisSecond >= perSecondMax) return false;
    this.#inThisSecond += 1;
    return true;
  }
}

function unknown(cause?: unknown): GatewayError {
  return new GatewayError('gateway.bundle_unavailable', {
    message:
      'What this names is not known here, and whether the workspace has it the control plane could not be asked.',
    headers: { 'retry-after': '1' },
    cause,
  });
}
