import { promises as dns } from 'node:dns';
import type { Address } from './address.ts';
import { hasGlobalIpv6 } from './machine-addresses.ts';
import { createSystemNames, type SystemNames } from './system-names.ts';

/** All addresses of a name. It ends soon after the signal does. */
export type Lookup = (hostname: string, signal: AbortSignal) => Promise<readonly Address[]>;

export interface DnsLookupOptions {
  /** `address` or `address:port`, in place of the system's. */
  servers?: readonly string[] | undefined;
  system?: SystemNames;
}

/** A server that is silent is asked again after this, then given twice as long. */
const questionTimeoutMs = 1_500;
const triesMax = 2;
/** One family's answer is here: how long the other's is waited for. Some servers never say that there is none. */
const otherFamilyMs = 1_000;

/**
 * Looks names up without threads: c-ares asks over sockets of the event loop,
 * so that a server that does not answer holds nothing but a socket, and can be
 * given up. The system's files are read here, as c-ares does not.
 */
export function createDnsLookup(options: DnsLookupOptions = {}): Lookup {
  const { servers } = options;
  const system = options.system ?? createSystemNames();
  return async (hostname, signal) => {
    const known = system.known(hostname);
    if (known !== undefined) return known;
    // One for each look-up: it can be cancelled, and knows the servers of this moment.
    const resolver = new dns.Resolver({ timeout: questionTimeoutMs, tries: triesMax });
    if (servers !== undefined && servers.length > 0) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await askInOrder(resolver, system.candidates(hostname), signal);
    } finally {
      signal.removeEventListener('abort', cancel);
      resolver.cancel();
    }
  };
}

/** @throws Error when one of them is none */
export function checkDnsServers(servers: readonly string[]): void {
  for (const server of servers)
    try {
      new dns.Resolver().setServers([server]);
    } catch {
      throw new Error(`has ${server}, which is neither an address nor address:port`);
    }
}

/** The first of the names that exists decides. */
async function askInOrder(
  resolver: dns.Resolver,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly Address[]> {
  let fault: unknown;
  for (const name of names) {
    const { addresses, ...asked } = await askBothFamilies(resolver, name);
    if (addresses.length > 0) return addresses;
    fault ??= asked.fault;
    if (signal.aborted) break;
  }
  throw fault === undefined
    ? Object.assign(new Error('The name does not exist, or has no address.'), { code: 'ENOTFOUND' })
    : Object.assign(new Error('No DNS server gave an answer.', { cause: fault }), {
        code: 'EAI_AGAIN',
      });
}

interface FamilyAnswer {
  addresses: readonly Address[];
  /** Set when no server could say whether there are any. */
  fault: unknown;
}

async function askBothFamilies(resolver: dns.Resolver, name: string): Promise<FamilyAnswer> {
  const four = familyAnswer(resolver.resolve4(name), 4);
  const six = familyAnswer(resolver.resolve6(name), 6);
  const first = await Promise.race([four, six]);
  const both =
    first.addresses.length === 0 ? await Promise.all([four, six]) : await withinTime(four, six);
  const [answer4, answer6] = both;
  const inOrder = hasGlobalIpv6() ? [answer6, answer4] : [answer4, answer6];
  return {
    addresses: inOrder.flatMap(({ addresses }) => addresses),
    fault: answer4.fault ?? answer6.fault,
  };
}

async function familyAnswer(question: Promise<string[]>, family: 4 | 6): Promise<FamilyAnswer> {
  try {
    const addresses = await question;
    return { addresses: addresses.map((address) => ({ address, family })), fault: undefined };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isAnswer = code === 'ENODATA' || code === 'ENOTFOUND';
    return { addresses: [], fault: isAnswer ? undefined : error };
  }
}

const noAnswer: FamilyAnswer = { addresses: [], fault: undefined };

/** Both answers; one that takes too long is left out. */
function withinTime(
  ...questions: [Promise<FamilyAnswer>, Promise<FamilyAnswer>]
): Promise<[FamilyAnswer, FamilyAnswer]> {
  const { promise: isLate, resolve } = Promise.withResolvers<FamilyAnswer>();
  const timer = setTimeout(resolve, otherFamilyMs, noAnswer);
  const [four, six] = questions;
  return Promise.all([Promise.race([four, isLate]), Promise.race([six, isLate])]).finally(() =>
    clearTimeout(timer),
  );
}

/** The system's own way, with all it knows (NSS, mDNS): on a thread that cannot be called back. */
export const lookUpBySystem: Lookup = (hostname) =>
  dns.lookup(hostname, { all: true, order: 'verbatim' }) as Promise<Address[]>;
