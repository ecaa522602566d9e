import { defineConfig } from 'prisma/config';

/** Tells the generator where the schema is. Migrations are applied by `src/kernel/migrations/apply.ts`. */
export default defineConfig({ schema: 'prisma/schema' });
