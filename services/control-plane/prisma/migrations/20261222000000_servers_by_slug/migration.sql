-- Addresses of servers name them by their slugs, before it is known whose they are.

CREATE INDEX "mcp_servers_slug_idx" ON "mcp_servers"("slug");
