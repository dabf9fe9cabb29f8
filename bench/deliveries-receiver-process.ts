/**
 * An outside system that accepts every delivery after the given number of milliseconds. Reports its address.
 *   node deliveries-receiver-process.ts LATENCY_MS
 */
import { createServer } from 'node:http';

const latencyMs = Number(process.argv[2]);
const server = createServer((request, response) => {
  request.resume().on('end', () => setTimeout(() => response.end(), latencyMs));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.send?.(`http://127.0.0.1:${address.port}`);
});
process.once('disconnect', () => process.exit());
