/** A store as a configuration binds it. `id` is the id of its database. */
export type StoreConfig = { number: number; binding: string; database: string; queue: string; id: string }

/** The id of a store's database until a deployment replaces it. A local server uses it to tell databases apart. */
function localId(number: number): string {
  return `00000000-0000-0000-0000-${String(number).padStart(12, '0')}`
}

/** What a configuration calls the database of a store. */
export function databaseBinding(store: number): string {
  return store === 0 ? 'DB' : `STORE_${store}`
}

function queueBinding(store: number): string {
  return store === 0 ? 'EVENTS' : `EVENTS_${store}`
}

/** The numbers of the stores that a configuration binds, including store 0. */
export function boundStores(config: string): number[] {
  const further = [...config.matchAll(/^binding = "STORE_([1-9]\d*)"$/gm)].map(([, number]) => Number(number))
  return [0, ...further.sort((a, b) => a - b)]
}

/**
 * The stores that a configuration binds, in order.
 *
 * @throws if a store lacks its queue, or if the name of the queue does not end with the number of the store
 */
export function storesIn(config: string): StoreConfig[] {
  return boundStores(config).map((number) => {
    const binding = databaseBinding(number)
    const database = blockOf(config, 'd1_databases', binding)
    const queue = queueOf(config, queueBinding(number))
    // The Worker knows from the name of a queue which store its messages belong to.
    const isNamedSo = number === 0 ? !/-\d+$/.test(queue) : queue.endsWith(`-${number}`)
    if (!isNamedSo) throw new Error(`the queue of store ${number} is called ${queue}: it must end with that number`)
    const id = settingOf(database, 'database_id')
    return { number, binding, database: settingOf(database, 'database_name'), queue, id }
  })
}

/**
 * A configuration with further stores, each with its own database and queue. Their names follow from those of store 0,
 * and the settings of their queues are those of store 0's queue.
 */
export function withStores(config: string, numbers: readonly number[]): string {
  const database = settingOf(config, 'database_name')
  const queue = settingOf(config, 'queue')
  const consumer = blocksOf(config).find((block) => isConsumerOf(block, queue))
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

/** A configuration with the ids of its stores' databases, by the number of the store. @throws if one is missing */
export function withIds(config: string, ids: ReadonlyMap<number, string>): string {
  let text = config
  for (const { number, binding } of storesIn(config)) {
    const id = ids.get(number)
    if (id === undefined) throw new Error(`the id of the database of store ${number} is not known`)
    const block = blockOf(text, 'd1_databases', binding)
    const replaced = block.replace(/^database_id = "[^"]*"$/m, () => `database_id = ${JSON.stringify(id)}`)
    text = text.replace(block, () => replaced)
  }
  return text
}

/** The first value of this name. */
export function settingOf(config: string, name: string): string {
  const found = new RegExp(`^${name} = "([^"]*)"$`, 'm').exec(config)?.[1]
  if (found === undefined) throw new Error(`the configuration has no ${name}`)
  return found
}

/**
 * A configuration whose Worker answers only on its own domain, once it has one: its address below workers.dev would lead past
 * the rules of that domain. The setting OTHER_HOSTS keeps that address, while vendors still send there.
 */
export function closedBesideDomain(config: string, publicOrigin: string): string {
  const others = /^OTHER_HOSTS = "([^"]*)"$/m.exec(config)?.[1] ?? ''
  const hosts = [new URL(publicOrigin).hostname, ...others.split(',').map((host) => host.trim())]
  if (hosts.some((host) => host.endsWith('.workers.dev'))) return config
  return config.replace(/^workers_dev = true$/m, 'workers_dev = false')
}

/** Whether a Worker that is deployed with a configuration answers anywhere: on a route, or below workers.dev. */
export function hasAddress(config: string, publicOrigin: string): boolean {
  return (
    /^(routes? = |\[\[?routes?\])/m.test(config) ||
    /^workers_dev = true$/m.test(closedBesideDomain(config, publicOrigin))
  )
}

/** The queue that a binding sends to. */
export function queueOf(config: string, binding: string): string {
  return settingOf(blockOf(config, 'queues.producers', binding), 'queue')
}

/** A configuration from one heading to the next. The comment above a heading belongs to the previous block. */
function blocksOf(config: string): string[] {
  return config.split(/^(?=\[)/m)
}

function blockOf(config: string, heading: string, binding: string): string {
  const found = blocksOf(config).find(
    (block) => block.startsWith(`[[${heading}]]`) && block.includes(`\nbinding = "${binding}"\n`),
  )
  if (found === undefined) throw new Error(`the configuration has no [[${heading}]] with the binding ${binding}`)
  return found
}

function isConsumerOf(block: string, queue: string): boolean {
  return block.startsWith('[[queues.consumers]]') && block.includes(`\nqueue = "${queue}"\n`)
}

/** A block without its comments, which only store 0's block has. */
function settingsOf(block: string): string {
  const lines = block.trim().split('\n')
  return lines.filter((line) => line !== '' && !line.startsWith('#')).join('\n')
}
