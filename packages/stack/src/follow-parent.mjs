/**
 * Preloaded into every process of the stack (`--import`). The launcher holds
 * the other end of our stdin and never writes to it; when the launcher is gone,
 * also by kill -9, the pipe closes and this process stops as if asked to.
 * Without it a killed launcher would leave orphans on its ports.
 *
 * Plain JavaScript: a process whose code is built then never loads the type
 * stripper, which takes 20 MB.
 */
import { flushCompileCache } from 'node:module';
import { isMainThread, Worker } from 'node:worker_threads';

/** Longer than any part's own drain; tests set less. */
const leaveMsMax = Number(process.env.SLUICE_LEAVE_MS_MAX ?? '10000');

function leave() {
  // The launcher also read our stderr. A logger that cannot get rid of its lines may wait for ever
  // while it exits, on the main thread; a thread of its own is what still can end the process then.
  const code = `setTimeout(() => process.kill(${process.pid}, 'SIGKILL'), ${leaveMsMax})`;
  new Worker(code, { eval: true, execArgv: [] }).unref();
  process.kill(process.pid, 'SIGTERM');
}

if (isMainThread) {
  // Node writes its compile cache when a process ends well; ours may not.
  setTimeout(flushCompileCache, 3000).unref();
  process.stdin.once('close', leave);
  process.stdin.on('error', () => process.stdin.destroy());
  process.stdin.once('end', () => process.stdin.destroy());
  process.stdin.resume();
  process.stdin.unref?.();
}
