import type {
  AgentIntegration,
  AgentServer,
  McpIntegration,
  McpServer,
  Prisma,
} from '../../generated/prisma/client.ts';

/** How an integration is called: headers, sign-in, forwarding. Secrets stand in it at any depth. */
export type Configurations = Readonly<Record<string, unknown>>;

/** Columns that integrations of both registries have. */
export type SharedIntegration = Pick<McpIntegration, keyof McpIntegration & keyof AgentIntegration>;
/** Servers of both registries have the same columns. */
export type ServerRow = Omit<
  Pick<McpServer, keyof McpServer & keyof AgentServer>,
  'integrationId'
> & { integrationId: string | null };

/** What differs between the registries: the row of an integration, and the columns that only this one has. */
export interface KindTypes {
  readonly integration: SharedIntegration;
  /** Given when a row is made, beside the columns of both. */
  readonly created: object;
  /** May be given when a row is changed. */
  readonly changed: object;
  /** The columns of a server that only this registry has. */
  readonly server: object;
  /** In place of the integration of a server: null where there are servers that have none. */
  readonly noIntegration: null;
}

export type IntegrationRow<K extends KindTypes = KindTypes> = K['integration'];

/** A server with what it is made of, and where it stands. */
export type FoundServer<K extends KindTypes = KindTypes> = Omit<ServerRow, 'integrationId'> &
  K['server'] & {
    workspace: { slug: string; name: string };
    integrationId: string | K['noIntegration'];
    integration: IntegrationRow<K> | K['noIntegration'];
  };

type SharedColumns = keyof Prisma.AgentIntegrationUncheckedCreateInput & keyof SharedIntegration;
export type NewSharedColumns = Pick<Prisma.AgentIntegrationUncheckedCreateInput, SharedColumns>;
export type ChangedSharedColumns = Pick<
  Prisma.AgentIntegrationUncheckedUpdateInput,
  Exclude<SharedColumns, 'id'>
>;
export type NewIntegration<K extends KindTypes> = NewSharedColumns & K['created'];
export type IntegrationChanges<K extends KindTypes> = ChangedSharedColumns & K['changed'];

// A condition that both registries' tables understand.
export type IntegrationWhere = Prisma.McpIntegrationWhereInput & Prisma.AgentIntegrationWhereInput;
export type ServerWhere = Prisma.McpServerWhereInput & Prisma.AgentServerWhereInput;
type GrantWhere = Prisma.McpIntegrationWorkspaceWhereInput &
  Prisma.AgentIntegrationWorkspaceWhereInput;
type OfferWhere = Prisma.McpCapabilityWhereInput & Prisma.AgentSkillWhereInput;
type SwitchWhere = Prisma.McpServerCapabilityWhereInput & Prisma.AgentServerSkillWhereInput;

interface Stamps {
  createdAt: Date;
  updatedAt: Date;
}
interface Switched extends Stamps {
  type: string;
  name: string;
  enabled: boolean;
}
interface ById {
  where: { id: string };
}
type Written = PromiseLike<{ count: number }>;

/**
 * The tables of a registry, with the calls that are made of them. Column by
 * column those of agents are those of MCP servers, but for the few that only one
 * of them has: both registries' tables of the database client are of this type.
 * One that is asked in two ways is here twice, since overloads would hide from the
 * compiler that it fits.
 */
export interface Tables<K extends KindTypes> {
  readonly integrations: {
    findFirst(args: { where: IntegrationWhere }): PromiseLike<IntegrationRow<K> | null>;
    findMany(args: {
      where: IntegrationWhere;
      include: { _count: { select: { grants: { where: GrantWhere } } } };
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }];
      skip: number;
      take: number;
    }): PromiseLike<(IntegrationRow<K> & { _count: { grants: number } })[]>;
    count(args: { where: IntegrationWhere }): PromiseLike<number>;
    create(args: { data: NewIntegration<K> }): PromiseLike<IntegrationRow<K>>;
    update(args: ById & { data: IntegrationChanges<K> }): PromiseLike<IntegrationRow<K>>;
    delete(args: ById): PromiseLike<unknown>;
  };
  readonly integrationIds: {
    findMany(args: {
      where: IntegrationWhere;
      select: { id: true };
    }): PromiseLike<{ id: string }[]>;
  };
  readonly grants: {
    findUnique(args: {
      where: { integrationId_workspaceId: { integrationId: string; workspaceId: string } };
    }): PromiseLike<{ enabled: boolean } | null>;
    findMany(args: {
      where: GrantWhere;
      include: { workspace: { select: { slug: true } } };
      orderBy: [{ createdAt: 'asc' }, { workspaceId: 'asc' }];
      skip: number;
      take: number;
    }): PromiseLike<
      (Stamps & { workspaceId: string; enabled: boolean; workspace: { slug: string } })[]
    >;
    count(args: { where: GrantWhere }): PromiseLike<number>;
    updateMany(args: { where: GrantWhere; data: { enabled: boolean; updatedAt: Date } }): Written;
    createMany(args: {
      data: (Stamps & { integrationId: string; workspaceId: string; enabled: boolean })[];
      skipDuplicates: true;
    }): Written;
  };
  readonly offers: {
    findMany(args: { where: OfferWhere }): PromiseLike<(Switched & { detail: Prisma.JsonValue })[]>;
    update(args: {
      where: { integrationId_type_name: { integrationId: string; type: string; name: string } };
      data: { detail: Prisma.InputJsonObject; updatedAt: Date };
    }): PromiseLike<unknown>;
    updateMany(args: { where: OfferWhere; data: { enabled: boolean; updatedAt: Date } }): Written;
    createMany(args: {
      data: (Stamps & {
        integrationId: string;
        type: string;
        name: string;
        enabled?: boolean;
        detail?: Prisma.InputJsonObject;
      })[];
      skipDuplicates: true;
    }): Written;
    deleteMany(args: { where: OfferWhere }): Written;
  };
  /** Without what is known of them, which may be much. */
  readonly offerNames: {
    findMany(args: {
      where: OfferWhere;
      select: { type: true; name: true; enabled: true };
    }): PromiseLike<Omit<Switched, keyof Stamps>[]>;
  };
  readonly servers: {
    findFirst(args: {
      where: ServerWhere;
      include: Whereabouts;
    }): PromiseLike<FoundServer<K> | null>;
    findMany(args: {
      where: ServerWhere;
      include: Whereabouts;
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }];
      skip: number;
      take: number;
    }): PromiseLike<FoundServer<K>[]>;
    count(args: { where: ServerWhere }): PromiseLike<number>;
    create(args: { data: NewServer }): PromiseLike<unknown>;
    update(args: ById & { data: ServerChanges }): PromiseLike<unknown>;
    delete(args: ById): PromiseLike<unknown>;
    deleteMany(args: { where: ServerWhere }): Written;
  };
  readonly serverNames: {
    findMany(args: {
      where: ServerWhere;
      select: { slug: true; workspaceId: true };
      orderBy: { id: 'asc' };
    }): PromiseLike<{ slug: string; workspaceId: string }[]>;
  };
  readonly switches: {
    findMany(args: {
      where: SwitchWhere;
      select: { type: true; name: true; enabled: true; createdAt: true; updatedAt: true };
    }): PromiseLike<Switched[]>;
    updateMany(args: { where: SwitchWhere; data: { enabled: boolean; updatedAt: Date } }): Written;
    createMany(args: { data: (Switched & { serverId: string })[]; skipDuplicates: true }): Written;
  };
  readonly userAccess: {
    findMany(args: {
      where: { serverId: string; userId?: { in: string[] } };
      orderBy?: { userId: 'asc' };
      take?: number;
    }): PromiseLike<{ userId: string; enabled: boolean }[]>;
    deleteMany(args: { where: { serverId: string; userId: { in: string[] } } }): Written;
    createMany(args: {
      data: (Stamps & { serverId: string; userId: string; enabled: boolean })[];
    }): Written;
  };
}

export interface Whereabouts {
  workspace: { select: { slug: true; name: true } };
  integration: true;
}

export type NewServer = Pick<
  Prisma.AgentServerUncheckedCreateInput,
  keyof Prisma.McpServerUncheckedCreateInput & keyof ServerRow
>;
export interface ServerChanges {
  name?: string | undefined;
  description?: string | null | undefined;
  defaultUserAccess?: 'allow' | 'deny';
  updatedAt: Date;
}
