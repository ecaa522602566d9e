import { type ExternalAuthConfig, externalAuthConfig } from '@sluice/contracts';
import type { config } from '@sluice/proto-stubs';
import type { CompiledMcpServer } from '../compiled/mcp-servers.ts';
import type { ConfigSource } from '../held/config-source.ts';
import type { ConfigStore } from '../held/config-store.ts';
import type { McpAddress } from './address.ts';

export interface IssuersOptions {
  readonly ask: ConfigSource['issuerServers'];
  readonly store: Pick<ConfigStore, 'bundle' | 'heldWorkspaces'>;
  readonly now?: () => number;
}

type Found = readonly Pick<config.IssuerServer, 'serverId' | 'workspaceId' | 'issuer' | 'scope'>[];

interface Known {
  readonly servers: Found;
  readonly untilMs: number;
}

/** A server whose tokens another gives, as it is set up now. */
export interface IssuedServer {
  readonly server: CompiledMcpServer;
  readonly settings: ExternalAuthConfig;
}

/** What an admin has just set is found; who is asked about often has been found. */
const freshMs = 1_000;
const foundMs = 30_000;
const addressesMax = 5_000;
const questionsMax = 16;
const questionsPerSecond = 100;

/**
 * Which servers there are at an address, and who gives their tokens: asked of the control plane, since nobody has said who calls when it
 * has to be known. What counts is how a server is set up in its workspace; this finds the workspace.
 */
export class Issuers {
  readonly #options: Required<IssuersOptions>;
  readonly #known = new Map<string, Known>();
  readonly #underWay = new Map<string, Promise<Found>>();
  #asked = { second: 0, count: 0 };

  constructor(options: IssuersOptions) {
    this.#options = { now: Date.now, ...options };
  }

  /** Servers at the address that take the tokens of this issuer. */
  async at(address: McpAddress, issuer: string): Promise<IssuedServer[]> {
    const found: IssuedServer[] = [];
    for (const each of await this.#at(address)) {
      if (each.issuer !== issuer) continue;
      const bundle = await this.#options.store.bundle(each.workspaceId);
      const server = bundle?.mcpServer(each.serverId);
      if (bundle === undefined || server?.source.slug !== address.server) continue;
      if (address.workspace !== undefined && address.workspace !== bundle.source.workspaceSlug)
        continue;
      const settings = issuerOf(server);
      if (settings?.issuer === issuer) found.push({ server, settings });
    }
    return found;
  }

  /** What clients log in for; undefined = what they log in for with us, empty = nobody says. */
  async scopeAt(address: McpAddress): Promise<string | undefined> {
    const found = await this.#at(address);
    if (found.length === 0 || found.some(({ issuer }) => issuer === '')) return undefined;
    return [...new Set(found.flatMap(({ scope }) => scope.split(' ')))].join(' ').trim();
  }

  async #at(address: McpAddress): Promise<Found> {
    const { now } = this.#options;
    const name = address.path;
    const known = this.#known.get(name);
    if (known !== undefined && known.untilMs > now()) return known.servers;
    const underWay = this.#underWay.get(name);
    if (underWay !== undefined) return underWay;
    if (!this.#mayAsk()) return known?.servers ?? [];
    const asked = this.#ask(address, known).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, asked);
    return asked;
  }

  async #ask({ path, workspace, server }: McpAddress, before: Known | undefined): Promise<Found> {
    const { ask, now } = this.#options;
    try {
      const servers = await ask({ workspaceSlug: workspace ?? '', serverSlug: server });
      const isIssued = servers.some(({ issuer }) => issuer !== '');
      this.#remember(path, { servers, untilMs: now() + (isIssued ? foundMs : freshMs) });
      return servers;
    } catch {
      // The control plane is away: what was known goes on, or else what is held here.
      const servers = before?.servers ?? this.#held(server);
      this.#remember(path, { servers, untilMs: now() + freshMs });
      return servers;
    }
  }

  #held(slug: string): Found {
    const { store } = this.#options;
    const found = [];
    for (const workspaceId of store.heldWorkspaces()) {
      const bundle = store.bundle(workspaceId);
      const server = bundle instanceof Promise ? undefined : bundle.mcpServer(slug);
      if (server?.source.slug !== slug) continue;
      const { issuer = '', scope } = issuerOf(server) ?? {};
      found.push({ serverId: server.source.id, workspaceId, issuer, scope: scope ?? '' });
    }
    return found;
  }

  #mayAsk(): boolean {
    const second = Math.floor(this.#options.now() / 1_000);
    if (this.#asked.second !== second) this.#asked = { second, count: 0 };
    this.#asked.count += 1;
    return this.#underWay.size < questionsMax && this.#asked.count <= questionsPerSecond;
  }

  #remember(name: string, known: Known): void {
    this.#known.delete(name);
    if (this.#known.size >= addressesMax)
      this.#known.delete(this.#known.keys().next().value as string);
    this.#known.set(name, known);
  }
}

/** Who gives the tokens of a server in place of us; undefined = we do. */
export function issuerOf({ configurations }: CompiledMcpServer): ExternalAuthConfig | undefined {
  const read = externalAuthConfig.safeParse(configurations.external_auth_config);
  return read.success ? read.data : undefined;
}
