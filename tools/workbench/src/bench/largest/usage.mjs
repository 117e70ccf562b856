// Preloaded into the controller that bench/largest.ts measures: on `usage` it says what it has used
// so far, on `heap` what it holds. Plain JavaScript, because the means to read TypeScript would be
// measured too.
process.on('message', (question) => {
  if (question === 'heap') globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  process.send?.({ cpuMs: (user + system) / 1000, rssBytes: rss, peakBytes, heapBytes: heapUsed });
});
process.channel?.unref();
