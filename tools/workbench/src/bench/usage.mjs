// Preloaded into a process that a bench measures: on `usage` it says what it has used so far, on `heap` what it holds; a profile is made from `profile` until it is told the file. Plain
// JavaScript, because the means to read TypeScript would be measured too.

/** Under way since somebody asked for a profile. */
let profiled = null;

process.on('message', async (question) => {
  if (question === 'profile') profiled = await profile();
  if (question.file) await profiled?.(question.file);
  if (question === 'heap') globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  process.send?.({ cpuMs: (user + system) / 1000, rssBytes: rss, peakBytes, heapBytes: heapUsed });
});
process.channel?.unref();

/** Begins a profile of the processor's time; what ends it and writes it to a file. */
async function profile() {
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 500 });
  await session.post('Profiler.start');
  return async (file) => {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    const { writeFileSync } = await import('node:fs');
    writeFileSync(file, JSON.stringify(profile));
  };
}
