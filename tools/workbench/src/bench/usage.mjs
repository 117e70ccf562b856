// Preloaded into a program that is measured: it tells its parent, whenever that asks, what it has
// used so far. Plain JavaScript, because the means to read TypeScript would be measured too.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  const rssBytes = process.resourceUsage().maxRSS * 1024;
  process.send?.({ cpuMs: (user + system) / 1000, rssBytes });
});
process.channel?.unref();
