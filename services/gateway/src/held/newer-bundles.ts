import type { CompiledBundle } from '../compiled/compiled-bundle.ts';

export interface NewerBundlesOptions {
  /** What is held, without waiting. */
  held: (workspaceId: string) => CompiledBundle | undefined;
  /** Asks the control plane for what changed. */
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
  /** When a workspace was last asked about. */
  readonly #askedAt = new Map<string, number>();
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

  /** A state of the workspace after this one; undefined when none is known. */
  async after(bundle: CompiledBundle): Promise<CompiledBundle | undefined> {
    const { workspaceId, hash } = bundle.source;
    const isNewer = (found: CompiledBundle | undefined) =>
      found !== undefined && found.source.hash !== hash ? found : undefined;
    const held = isNewer(this.#options.held(workspaceId));
    return held ?? isNewer(await (this.#underWay.get(workspaceId) ?? this.#ask(workspaceId)));
  }

  #ask(workspaceId: string): Promise<CompiledBundle | undefined> | undefined {
    if (!this.#options.isConnected() || !this.#mayAsk(workspaceId)) return undefined;
    this.asked += 1;
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), this.#options.timeoutMs);
    // Who cannot be asked is as good as one who knows nothing new.
    const answer = this.#options.fetch(workspaceId).catch(() => undefined);
    const asking = Promise.race([answer, late]).finally(() => {
      clearTimeout(timer);
      this.#underWay.delete(workspaceId);
    });
    this.#underWay.set(workspaceId, asking);
    return asking;
  }

  #mayAsk(workspaceId: string): boolean {
    const now = Date.now();
    const { everyMs, perSecondMax, underWayMax } = this.#options;
    if (now - (this.#askedAt.get(workspaceId) ?? 0) < everyMs) return false;
    if (this.#underWay.size >= underWayMax) return false;
    const second = Math.floor(now / 1_000);
    if (second !== this.#second) this.#inThisSecond = 0;
    this.#second = second;
    if (this.#inThisSecond >= perSecondMax) return false;
    this.#inThisSecond += 1;
    if (this.#askedAt.size >= rememberedMax) this.#askedAt.clear();
    this.#askedAt.set(workspaceId, now);
    return true;
  }
}
