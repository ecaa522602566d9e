-- Types of which a whole list was seen once: what comes after that is new.
ALTER TABLE "mcp_integrations" ADD COLUMN "settled_types" TEXT[] NOT NULL DEFAULT '{}';
