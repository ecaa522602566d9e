/**
 * Answers of model providers, kept for requests that are the same. Start here;
 * `key.ts` says what "the same" means, `forms.ts` how one answer serves as JSON
 * and as a stream, `flights.ts` who asks when nothing is stored, `fill.ts` how
 * an answer gets into the store.
 */
import { GatewayError } from '@sluice/errors';
import { Fill, type FillDeps, type Subject } from './fill.ts';
import { type Flight, Flights, type Lead } from './flights.ts';
import { deliver, isEligible, replyOf, wantedForm } from './forms.ts';
import { cacheKey } from './key.ts';
import type { CacheLookup, CacheRequest, Delivery } from './request.ts';
import type { CachedReply, CacheStore } from './store.ts';

export type { CacheStatus } from '../exchange/visit.ts';
export type { CacheFill, CacheLookup, CacheRequest, Delivery } from './request.ts';

export interface ReplyCacheOptions {
  store: CacheStore;
  /** Larger answers are not stored. */
  objectBytesMax: number;
  /** How long a request waits for another one's answer before it asks for itself. */
  flightWaitMs: number;
  /** Unix ms. */
  now?: () => number;
}

/** Of rules that do not say: a week. */
const maxAgeSDefault = 604_800;
/** Above any number of requests one gateway serves at a time. */
const flightsMax = 10_000;
/** Streams of the largest size that are copied at the same time. */
const copiesMax = 64;

const disabled: CacheLookup = Object.freeze({ status: 'DISABLED' });

export class ReplyCache {
  readonly #store: CacheStore;
  readonly #deps: FillDeps;
  readonly #flights: Flights;
  readonly #now: () => number;

  constructor(options: ReplyCacheOptions) {
    this.#store = options.store;
    this.#now = options.now ?? Date.now;
    this.#flights = new Flights({ waitMs: options.flightWaitMs, flightsMax });
    this.#deps = {
      store: options.store,
      objectBytesMax: options.objectBytesMax,
      copies: { bytes: 0, bytesMax: copiesMax * options.objectBytesMax },
      now: this.#now,
    };
  }

  /** Answers that are being asked for at the moment. */
  get flightCount(): number {
    return this.#flights.size;
  }

  /**
   * Answers at once where nothing is to be waited for.
   * @throws GatewayError `request.aborted` when the caller leaves
   */
  lookUp(request: CacheRequest): CacheLookup | Promise<CacheLookup> {
    const { rule, signal } = request;
    if (rule === undefined || !isEligible(request)) return disabled;
    if (signal.aborted) throw new GatewayError('request.aborted');
    const form = wantedForm(request);
    const maxAgeMs = (rule.maxAgeS ?? maxAgeSDefault) * 1000;
    const key = cacheKey(request);
    const { organisationId, endpoint } = request;
    const subject: Subject = { organisationId, key, endpoint, form, maxAgeMs, signal };
    // What is young enough for one rule may be too old for another.
    const flightKey = `${key}/${form}/${maxAgeMs}`;
    return request.forceRefresh
      ? { status: 'REFRESH', fill: this.#fill(subject, this.#begin(flightKey, subject, true)) }
      : this.#find(subject, flightKey);
  }

  #find(subject: Subject, flightKey: string): CacheLookup | Promise<CacheLookup> {
    const flight = this.#flights.at(flightKey);
    // Whoever leads has looked already, or is looking: a question saved.
    if (flight !== undefined && !flight.isRefresh && !this.#store.isLocal)
      return this.#follow(flight, subject);
    const found = this.#store.get(subject.organisationId, subject.key);
    if (!(found instanceof Promise)) {
      const delivery = this.#deliver(found, subject);
      return delivery === undefined ? this.#ask(subject, flightKey, flight) : hit(delivery);
    }
    if (flight !== undefined) return this.#findBeside(flight, found, subject, flightKey);
    return this.#findLeading(found, subject, this.#begin(flightKey, subject, false));
  }

  /** The look-up itself is shared: those who come meanwhile wait for it. */
  async #findLeading(
    found: Promise<CachedReply | undefined>,
    subject: Subject,
    lead: Lead | undefined,
  ): Promise<CacheLookup> {
    const delivery = this.#deliver(await found, subject);
    if (delivery === undefined) return { status: 'MISS', fill: this.#fill(subject, lead) };
    lead?.land(delivery);
    return hit(delivery);
  }

  /** While a refresh is under way, what is stored still serves. */
  async #findBeside(
    refresh: Flight,
    found: Promise<CachedReply | undefined>,
    subject: Subject,
    flightKey: string,
  ): Promise<CacheLookup> {
    const delivery = this.#deliver(await found, subject);
    return delivery === undefined ? this.#ask(subject, flightKey, refresh) : hit(delivery);
  }

  /** Nothing is stored. `seen` is the flight that was under way when that was looked up. */
  #ask(
    subject: Subject,
    flightKey: string,
    seen: Flight | undefined,
  ): CacheLookup | Promise<CacheLookup> {
    if (seen?.delivery !== undefined) return hit(seen.delivery);
    const flight = this.#flights.at(flightKey);
    if (flight !== undefined) return this.#follow(flight, subject);
    return {
      status: 'MISS',
      fill: this.#fill(subject, this.#begin(flightKey, subject, false)),
    };
  }

  async #follow(flight: Flight, subject: Subject): Promise<CacheLookup> {
    const landing = await flight.wait(subject.signal);
    if (landing.kind === 'landed') return hit(landing.delivery);
    const lead = landing.kind === 'lead' ? landing.lead : undefined;
    return { status: 'MISS', fill: this.#fill(subject, lead) };
  }

  #begin(flightKey: string, subject: Subject, isRefresh: boolean): Lead | undefined {
    return this.#flights.begin(flightKey, subject.signal, isRefresh);
  }

  #fill(subject: Subject, lead: Lead | undefined): Fill {
    return new Fill(this.#deps, subject, lead);
  }

  #deliver(found: CachedReply | undefined, subject: Subject): Delivery | undefined {
    if (found === undefined || this.#now() - found.storedAtMs >= subject.maxAgeMs) return undefined;
    return deliver(subject.endpoint, found, subject.form);
  }
}

function hit(delivery: Delivery): CacheLookup {
  return { status: 'HIT', reply: replyOf(delivery), kept: delivery };
}
