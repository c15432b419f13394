/** The same numbers in every run, so that runs can be compared: a linear congruential generator. */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 0x1_0000_0000;
  };
}

const CAPABILITIES = 200;
const PER_AGENT = 8;

const capability = (random) => `cap_${String(Math.floor(random() * CAPABILITIES)).padStart(3, '0')}`;

/** Agents with 8 random capabilities out of 200. */
export function* manifests(from, to, prefix = 'agent') {
  const random = randomNumbers(7 + from);
  for (let i = from; i < to; i += 1) {
    const names = new Set();
    while (names.size < PER_AGENT) names.add(capability(random));
    const id = `${prefix}-${String(i).padStart(6, '0')}`;
    yield { agent_id: id, name: `agent ${i}`, endpoint: `http://127.0.0.1:9/${id}`, capabilities: [...names].sort() };
  }
}

/** Paths that ask for two random capabilities, 20 answers at most. */
export function questions(count) {
  const random = randomNumbers(3);
  return Array.from(
    { length: count },
    () => `/discover?capabilities=${capability(random)},${capability(random)}&limit=20`,
  );
}
