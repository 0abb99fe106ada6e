/** The id of a store's database until a deployment replaces it. A local server keeps databases apart by it. */
function localId(number: number): string {
  return `00000000-0000-0000-0000-${String(number).padStart(12, '0')}`
}

/** What a configuration calls the database of a store. */
export function databaseBinding(store: number): string {
  return store === 0 ? 'DB' : `STORE_${store}`
}

/** The numbers of the stores that a configuration binds, with store 0. */
export function boundStores(config: string): number[] {
  const further = [...config.matchAll(/^binding = "STORE_([1-9]\d*)"$/gm)].map(([, number]) => Number(number))
  return [0, ...further.sort((a, b) => a - b)]
}

/**
 * A configuration with further stores, each a database and a queue of its own. What each is called follows from the names
 * of store 0's; the settings of its queue are those of store 0's queue.
 */
export function withStores(config: string, numbers: readonly number[]): string {
  const database = settingOf(config, 'database_name')
  const queue = settingOf(config, 'queue')
  const consumer = config.split(/^(?=\[)/m).find((block) => isConsumerOf(block, queue))
  if (!consumer) throw new Error(`the configuration has no consumer of ${queue}`)
  const blocks = numbers.map(
    (n) => `
# Store ${n}: a database for more projects, with a queue of its own.
[[d1_databases]]
binding = "STORE_${n}"
database_name = "${database}-${n}"
database_id = "${localId(n)}"
migrations_dir = "${settingOf(config, 'migrations_dir')}"

[[queues.producers]]
binding = "EVENTS_${n}"
queue = "${queue}-${n}"

${settingsOf(consumer).replace(`queue = "${queue}"`, `queue = "${queue}-${n}"`)}
`,
  )
  return `${config.trimEnd()}\n${blocks.join('')}`
}

function isConsumerOf(block: string, queue: string): boolean {
  return block.startsWith('[[queues.consumers]]') && block.includes(`\nqueue = "${queue}"\n`)
}

/** A block without its comments, which stand beside store 0's. */
function settingsOf(block: string): string {
  const lines = block.trim().split('\n')
  return lines.filter((line) => line !== '' && !line.startsWith('#')).join('\n')
}

/** The first value of this name. */
function settingOf(config: string, name: string): string {
  const found = new RegExp(`^${name} = "([^"]*)"$`, 'm').exec(config)?.[1]
  if (found === undefined) throw new Error(`the configuration has no ${name}`)
  return found
}
