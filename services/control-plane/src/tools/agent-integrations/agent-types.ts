import type { AgentIntegration, Prisma } from '../../generated/prisma/client.ts';

type Columns = Pick<Prisma.AgentIntegrationUncheckedCreateInput, 'agentCard' | 'protocol'>;

export interface AgentTypes {
  readonly integration: AgentIntegration;
  readonly created: Columns;
  readonly changed: Columns;
  readonly server: object;
  readonly noIntegration: never;
}
