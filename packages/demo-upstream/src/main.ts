import { startDemoUpstream } from './server.ts';

const upstream = await startDemoUpstream({
  host: process.env.HOST ?? '127.0.0.1',
  port: Number(process.env.PORT ?? '8799'),
});

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    void upstream.close().then(() => process.exit(0));
  });

process.stderr.write(
  `{"level":"info","service":"demo-upstream","port":${upstream.port},"msg":"ready"}\n`,
);
