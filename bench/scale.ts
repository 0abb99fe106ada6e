/*
 * npm run bench:scale: what each read costs with a thousand, a hundred thousand and a million events in a local D1, and what
 * reads of consumers cost with up to a hundred thousand of them, without purchases and with them. The
 * Worker as it is deployed answers every question over its own fetch handler; rows read and round trips are those of its
 * own log lines, which are D1's. Writes docs/operate/scale.md.
 *
 *   node bench/scale.ts                  every size, and the document
 *   node bench/scale.ts --sizes 1000     only these numbers of events, nothing written
 *   node bench/scale.ts --only buyers    only this table (events, consumers, names or buyers), nothing written
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import { ROOT } from '../scripts/lib/paths.ts'
import { printTable, run } from '../scripts/lib/terminal.ts'
import { HUNDRED, ONE } from './consumer-rows.ts'
import { type Database, RARE, type Seeded, seed } from './seed.ts'
import { ASKED, seedBuyers, seedConsumers, seedNames, TOKEN } from './seed-consumers.ts'
import { bundle, COMPATIBILITY_DATE, logLines, migrate, PLATFORM } from './worker.ts'

const SIZES = [1_000, 100_000, 1_000_000]
const CONSUMERS = [1_000, 10_000, 100_000]
const BUYERS = [1_000, 100_000]
const DOCUMENT = join(ROOT, 'docs/operate/scale.md')
/** Timed requests a question; the median is shown. Of searches by a text, the 95th percentile too. */
const REPEATS = 11
const REPEATS_OF_SEARCH = 101
/** No page of a search reads more, whatever is asked. */
const MOST_ROWS = 10_000
/** What an index answers may differ this much between the sizes, and is never more for a page of a search. */
const FLAT_WITHIN = 60
const NEAR_A_PAGE = 500
const DAY = 86_400_000
const EVENTS = '/platform/v1/billing/webhooks'
const SEARCH = '/platform/v1/search'

/**
 * One question. `flat`: its rows read may not grow with the number of events. `bounded`: they may, up to {@link MOST_ROWS}.
 * `walk`: it may also need several pages to find what there is, and is asked to its last one; `found`: how many there are. `same`: its
 * rows read and its trips are the same at every size.
 */
type Question = {
  name: string
  path: string
  kind: 'flat' | 'bounded' | 'walk' | 'same'
  found: number | null
  body?: object
}
/** What a database is filled with, and what is then asked. */
type Subject = {
  things: 'events' | 'consumers' | 'names' | 'buyers'
  seed: (db: Database, size: number, now: number) => Promise<Seeded>
  questions: (of: Seeded, now: number) => Question[]
}
/** `ms`: the median; `best`: the fastest request; `p95`: of a search by a text, the 95th percentile. `walked`: to the last page, how many pages that took, the most rows one of them read, and the events they had. */
type Cost = { rows: number; trips: number; ms: number; best: number; p95: number | null; walked: Walk | null }
type Walk = { cursor: string; lastId: string; pages: number; most: number; found: number }
type Column = { size: number; seeded: Seeded; asked: Question[]; costs: Map<string, Cost> }

const at = (ms: number) => new Date(ms).toISOString()
const ask = (name: string, kind: Question['kind'], path: string): Question => ({ name, kind, path, found: null })
const search = (
  name: string,
  kind: Question['kind'],
  query: Record<string, string | string[]>,
  found: number | null = null,
): Question => {
  const parameters = Object.entries(query).flatMap(([key, value]) => [value].flat().map((one) => [key, one]))
  return { name, kind, path: `${EVENTS}/search?${new URLSearchParams(parameters as [string, string][])}`, found }
}

function questions(of: Seeded, now: number): Question[] {
  return [
    ask('authentication alone', 'flat', '/platform/v1/projects?cursor=none'),
    ask('one event', 'flat', `${EVENTS}/ONE`),
    ask('list, first page', 'flat', EVENTS),
    ask('list, first page, view=summary', 'flat', `${EVENTS}?view=summary`),
    ask('list, page 1,000 or the last', 'flat', `${EVENTS}?view=summary&DEEP`),
    ...oneFilter(of, now),
    ...combined(of, now),
    ask('health', 'bounded', `${EVENTS}/health`),
    ask('lag, 24 h, one connection', 'bounded', `${EVENTS}/lag-timeseries?connection_id=${of.connections.first}`),
    ask('lag, 24 h, all connections', 'bounded', `${EVENTS}/lag-timeseries`),
    ask('lag, 30 days by the hour, all', 'bounded', `${EVENTS}/lag-timeseries?bucket=1h&from=${at(now - 30 * DAY)}`),
  ]
}

function oneFilter({ connections: { first, quiet } }: Seeded, now: number): Question[] {
  const middle = now - 15 * DAY
  return [
    search('no filter', 'flat', {}),
    search('event_type, frequent', 'flat', { event_type: 'customer.updated' }),
    search('event_type, rare', 'flat', { event_type: RARE.type }),
    search('event_type, three', 'flat', { event_type: ['customer.updated', 'invoice.created', RARE.type] }),
    search('event_type, invoice.*', 'flat', { event_type: 'invoice.*' }),
    search('event_type, customer.* (12 types)', 'flat', { event_type: 'customer.*' }),
    search('event_type, none', 'flat', { event_type: 'no.such' }),
    search('status processed', 'bounded', { status: 'processed' }),
    search('status failed', 'flat', { status: 'failed' }),
    search('status failed, ignored', 'flat', { status: ['failed', 'ignored'] }),
    search('status received', 'bounded', { status: 'received' }),
    search('status processing', 'bounded', { status: 'processing' }),
    search('status failed, received', 'bounded', { status: ['failed', 'received'] }),
    search('connection_id, busy', 'flat', { connection_id: first }),
    search('connection_id, quiet', 'flat', { connection_id: quiet }),
    search('connection_id, none', 'flat', { connection_id: 'con_none' }),
    search('vendor, busy', 'flat', { vendor: 'stripe' }),
    search('vendor, quiet', 'flat', { vendor: 'shopify' }),
    search('vendor, none', 'flat', { vendor: 'adyen' }),
    search('livemode=true', 'flat', { livemode: 'true' }),
    search('livemode=false (quiet)', 'flat', { livemode: 'false' }),
    search('vendor_event_id', 'flat', { vendor_event_id: 'evt_00000000_0' }),
    search('vendor_event_id, none', 'flat', { vendor_event_id: 'evt_none' }),
    search('ref, of a tenth of all', 'flat', { ref: 'price_3' }),
    search('ref, rare', 'flat', { ref: RARE.ref }),
    search('ref, none', 'flat', { ref: 'sub_none' }),
    search('received, a day', 'flat', { received_after: at(middle), received_before: at(middle + DAY) }),
    search('received, a day, asc', 'flat', {
      received_after: at(middle),
      received_before: at(middle + DAY),
      order: 'asc',
    }),
    search('received, none', 'flat', { received_before: at(now - 60 * DAY) }),
    search('min_attempts 2', 'flat', { min_attempts: '2' }),
    search('min_attempts, rare', 'walk', { min_attempts: String(RARE.attempts) }, RARE.count),
    search('error, frequent', 'flat', { error: 'is no integer' }),
    search('error, rare', 'walk', { error: RARE.error }, RARE.count),
    search('error, none', 'walk', { error: 'no such words' }, 0),
  ]
}

function combined({ connections: { first, quiet } }: Seeded, now: number): Question[] {
  const middle = now - 15 * DAY
  return [
    search('type + ref', 'bounded', { event_type: 'customer.updated', ref: 'price_3' }),
    search('type + status', 'bounded', { event_type: 'customer.updated', status: 'failed' }),
    search('rare type + status', 'bounded', { event_type: RARE.type, status: 'processed' }),
    search('vendor + status', 'bounded', { vendor: 'paddle', status: 'failed' }),
    search('connection + status', 'bounded', { connection_id: first, status: 'failed' }),
    search('quiet connection + status', 'walk', { connection_id: quiet, status: 'processed' }),
    search('quiet connection + type', 'walk', { connection_id: quiet, event_type: 'customer.updated' }),
    search('status + a day', 'flat', {
      status: 'failed',
      received_after: at(middle),
      received_before: at(middle + DAY),
    }),
    search('min_attempts + type, none', 'walk', { min_attempts: '20', event_type: 'price.archived' }, 0),
    search('type + livemode=false, none', 'walk', { livemode: 'false', event_type: 'no.such' }, 0),
    search('two open statuses and a final one, none', 'walk', {
      status: ['processing', 'queued', 'failed'],
      connection_id: quiet,
    }),
  ]
}

/** A question whose rows read do not grow. */
function flat(name: string, path: string, body?: object): Question {
  return { name, kind: 'flat', path: `/platform/v1${path}`, found: null, ...(body && { body }) }
}

function questionsOfConsumers(): Question[] {
  const check = (name: string, consumers: readonly number[]) =>
    flat(name, '/billing/entitlements/check', { consumers: consumers.map((v) => `ext:u${v}`), features: ASKED })
  return [
    flat('consumers, first page', '/consumers'),
    flat('consumers, by email', `/consumers?email=c${ONE}@example.com`),
    flat('consumers, blocked (a tenth)', '/consumers?state=blocked'),
    flat('one consumer', `/consumers/csm_0000000000${String(ONE).padStart(16, '0')}`),
    flat('one consumer, by external id', `/consumers/ext:u${ONE}`),
    flat('its devices', `/consumers/ext:u${ONE}/devices`),
    flat('verify a device token', '/devices/verify', { token: TOKEN }),
    flat('customers, first page', '/billing/customers'),
    flat('customers, of a consumer', `/billing/customers?consumer=ext:u${ONE}`),
    flat('customers, without a consumer', '/billing/customers?linked=false'),
    check('check of one consumer', [ONE]),
    check('check of 100 consumers', HUNDRED),
    flat('entitlements of a consumer, explained', `/consumers/ext:u${ONE}/entitlements?explain=true`),
  ]
}

function questionsOfNames(): Question[] {
  return [
    flat('a first name that a twentieth has', '/search?q=first7'),
    flat('a last name that a thousandth has', `/search?q=last${ONE}`),
    flat('a last name and a first one', `/search?q=last${ONE}+first${ONE % 20}`),
    flat('a last name and a first one that nobody has together', `/search?q=last${ONE}+first${(ONE + 1) % 20}`),
    flat('an email address', `/search?q=c${ONE}@example.com`),
    flat('the beginning of every external id', '/search?q=u'),
    flat('an invoice number', `/search?q=inv-${ONE}`),
    flat('the id of a subscription', `/search?q=sub_${ONE}`),
    flat('a text without a match', '/search?q=nobody'),
  ]
}

function questionsOfBuyers(): Question[] {
  const same = (name: string, path: string, body?: object): Question => {
    return { name, kind: 'same', path: `/platform/v1${path}`, found: null, ...(body && { body }) }
  }
  const check = (name: string, consumers: readonly number[]) =>
    same(name, '/billing/entitlements/check', { consumers: consumers.map((v) => `ext:u${v}`), features: ASKED })
  return [
    check('check of one consumer', [ONE]),
    check('check of 100 consumers', HUNDRED),
    same('entitlements of a consumer, explained', `/consumers/ext:u${ONE}/entitlements?explain=true`),
    same('purchases, first page', '/billing/purchases'),
    same('purchases, of a consumer', `/billing/purchases?consumer=ext:u${ONE}`),
    same('one purchase', `/billing/purchases/pi_0_${String(ONE).padStart(6, '0')}`),
  ]
}

const EVENT_READS: Subject = { things: 'events', seed, questions }
const CONSUMER_READS: Subject = { things: 'consumers', seed: seedConsumers, questions: questionsOfConsumers }
const NAME_READS: Subject = { things: 'names', seed: seedNames, questions: questionsOfNames }
const BUYER_READS: Subject = { things: 'buyers', seed: seedBuyers, questions: questionsOfBuyers }

await run(async () => {
  const { values } = parseArgs({ options: { sizes: { type: 'string' }, only: { type: 'string' } } })
  const sizes = values.sizes?.split(',').map(Number) ?? SIZES
  const script = await bundle()
  const tables = []
  for (const [subject, sizesOf] of [
    [EVENT_READS, sizes],
    [CONSUMER_READS, CONSUMERS],
    [NAME_READS, BUYERS],
    [BUYER_READS, BUYERS],
  ] as const) {
    if (values.only && values.only !== subject.things) continue
    const columns: Column[] = []
    for (const size of sizesOf) columns.push(await measureIn(script, size, subject))
    tables.push(tableOf(columns, subject))
    console.log()
    printTable(tables.at(-1)?.headings ?? [], tables.at(-1)?.rows ?? [])
  }
  if (!values.sizes && !values.only) {
    const [events, consumers, names, buyers] = tables as [Table, Table, Table, Table]
    writeFileSync(DOCUMENT, documentOf({ events, consumers, names, buyers }) + writtenByHand())
    console.log('\nWritten to docs/operate/scale.md')
  }
  const broken = tables.flatMap((table) => table.broken)
  if (broken.length > 0) throw new Error(`What has to hold does not:\n${broken.join('\n')}`)
})

type Table = ReturnType<typeof tableOf>

function tableOf(columns: readonly Column[], { things }: Subject) {
  const asked = columns.at(-1)?.asked ?? []
  const headings = ['', ...columns.map(({ size }) => size.toLocaleString('en')), 'what grows']
  const rows = [
    ...asked.map((question) => [
      question.name,
      ...columns.map(({ costs }) => cellOf(costs.get(question.name))),
      growthOf(
        question,
        columns.flatMap(({ costs }) => costs.get(question.name) ?? []),
      ),
    ]),
    ['database, MB', ...columns.map(({ seeded }) => (seeded.bytes / 1e6).toFixed(1)), `with the ${things}`],
    ['seeded in, s', ...columns.map(({ seeded }) => seeded.seconds.toFixed(0)), ''],
  ]
  return { headings, rows, broken: asked.flatMap((question) => brokenBy(question, columns)) }
}

function cellOf(cost: Cost | undefined): string {
  if (!cost) return ''
  const { rows, trips, ms, p95, walked } = cost
  const pages = walked ? `, ${walked.pages} page${walked.pages === 1 ? '' : 's'} of ≤ ${walked.most}` : ''
  return `${rows} · ${trips} · ${ms.toFixed(1)}${pages}${p95 === null ? '' : `, p95 ${p95.toFixed(1)}`}`
}

/**
 * How far the rows read differ between the sizes. A page of the smallest database is not always full: where it is not
 * the only one, the others are compared.
 */
function spreadOf(costs: readonly Cost[]): number {
  const rows = costs.map((cost) => cost.rows).slice(costs.length > 1 ? 1 : 0)
  return Math.max(...rows) - Math.min(...rows)
}

function growthOf({ kind }: Question, costs: readonly Cost[]): string {
  if (kind === 'same') return `time × ${((costs.at(-1)?.best ?? 0) / (costs[0]?.best ?? 1)).toFixed(1)}`
  const pages = costs.map(({ walked }) => walked?.pages ?? 1)
  if (Math.max(...pages) > 1) return 'the pages'
  return spreadOf(costs) > FLAT_WITHIN ? 'rows, to the bound' : 'nothing'
}

/** What a question has to keep to, and does not. */
function brokenBy({ name, kind, path, found }: Question, columns: readonly Column[]): string[] {
  const costs = columns.flatMap(({ costs }) => costs.get(name) ?? [])
  const rows = costs.map((cost) => cost.rows)
  const most = Math.max(...costs.map(({ rows, walked }) => Math.max(rows, walked?.most ?? 0)))
  const seen = costs.flatMap(({ walked }) => walked?.found ?? [])
  const searched = path.startsWith(`${EVENTS}/search`)
  return [
    found !== null && seen.some((n) => n !== found) && `found ${seen.join(', ')} to the last page, of ${found}`,
    searched && most > (kind === 'flat' ? NEAR_A_PAGE : MOST_ROWS) && `${most} rows a page`,
    kind === 'flat' && spreadOf(costs) > FLAT_WITHIN && `rows read grow: ${rows.join(', ')}`,
    kind === 'same' &&
      costs.some(({ rows, trips }) => rows !== costs[0]?.rows || trips !== costs[0]?.trips) &&
      `rows read and trips differ: ${costs.map(({ rows, trips }) => `${rows} · ${trips}`).join(', ')}`,
  ].flatMap((what) => (what ? [`${name}: ${what}`] : []))
}

/** Measures in a database of its own, in a folder that goes when it is done. */
async function measureIn(script: string, size: number, subject: Subject): Promise<Column> {
  const folder = mkdtempSync(join(tmpdir(), 'scale-'))
  try {
    const worker = open(script, folder)
    try {
      return { size, ...(await measure(worker, size, subject)) }
    } finally {
      await worker.miniflare.dispose()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type LogLine = { client_request_id: string; d1_rows_read: number; d1_trips: number; status: number }
type Opened = ReturnType<typeof open>

function open(script: string, folder: string) {
  const lines = new Map<string, LogLine>()
  let arrived = () => {}
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      name: 'bench',
      modules: [{ type: 'ESModule', path: 'index.js', contents: script }],
      compatibilityDate: COMPATIBILITY_DATE,
      cf: false,
      log: new Log(LogLevel.ERROR),
      resourcePersistencePath: folder,
      d1Databases: { DB: 'bench' },
      kvNamespaces: ['KV'],
      queueProducers: { EVENTS: 'bench' },
      ...PLATFORM,
      handleStructuredLogs: ({ message }) => {
        for (const line of logLines<LogLine>(message)) lines.set(line.client_request_id, line)
        arrived()
      },
    }),
  )
  let asked = 0
  return {
    miniflare,
    /** Asks, and waits for the line that the Worker logs of it. */
    async ask(of: Seeded, path: string, sent?: object) {
      asked += 1
      const id = `bench-${String(asked).padStart(8, '0')}`
      const began = performance.now()
      const response = await miniflare.dispatchFetch(`https://bench.test${path}`, {
        headers: {
          Authorization: `Bearer ${of.secret}`,
          'X-Project-Id': of.project,
          'X-Request-Id': id,
          'Content-Type': 'application/json',
        },
        ...(sent && { method: 'POST', body: JSON.stringify(sent) }),
      })
      // biome-ignore lint/suspicious/noExplicitAny: an answer of any route
      const body = (await response.json()) as any
      const ms = performance.now() - began
      while (!lines.has(id)) {
        await new Promise<void>((resolve) => {
          arrived = resolve
        })
      }
      const line = lines.get(id) as LogLine
      lines.delete(id)
      if (line.status >= 500) throw new Error(`${path} answered ${line.status}: ${JSON.stringify(body)}`)
      return { status: line.status, body, ms, rows: line.d1_rows_read, trips: line.d1_trips }
    },
  }
}

async function measure(worker: Opened, size: number, { things, seed, questions }: Subject) {
  const now = Date.now()
  const db = (await worker.miniflare.getD1Database('DB')) as unknown as Database
  await migrate(db)
  console.log(`Seeding ${size.toLocaleString('en')} ${things} …`)
  const seeded = await seed(db, size, now)
  console.log(`… in ${seeded.seconds.toFixed(0)} s. Asking …`)
  const deep = await walk(worker, seeded, `${EVENTS}?view=summary`, 1000)
  const asked = questions(seeded, now)
  const costs = new Map<string, Cost>()
  for (const { name, path, kind, body } of asked) {
    const real = path.replace('ONE', deep.lastId).replace('DEEP', `cursor=${deep.cursor}`)
    const times: number[] = []
    let answer = await worker.ask(seeded, real, body)
    if (answer.status >= 400 && name !== 'authentication alone') {
      throw new Error(`${name} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    }
    const isSearch = path.startsWith(SEARCH)
    for (let i = 0; i < (isSearch ? REPEATS_OF_SEARCH : REPEATS); i++) {
      answer = await worker.ask(seeded, real, body)
      times.push(answer.ms)
    }
    times.sort((a, b) => a - b)
    const at = (share: number) => times[Math.floor(share * times.length)] ?? 0
    const walked = kind === 'walk' ? await walk(worker, seeded, real, 10_000) : null
    const { rows, trips } = answer
    costs.set(name, { rows, trips, ms: at(0.5), best: at(0), p95: isSearch ? at(0.95) : null, walked })
  }
  return { seeded, asked, costs }
}

/** Reads page after page, to the last one or to as many as asked for. */
async function walk(worker: Opened, seeded: Seeded, path: string, upTo: number): Promise<Walk> {
  let cursor = ''
  let before = ''
  let found = 0
  let lastId = ''
  let most = 0
  let pages = 0
  do {
    before = cursor
    const { body, rows } = await worker.ask(seeded, cursor === '' ? path : `${path}&cursor=${cursor}`)
    found += body.data.length
    lastId = body.data.at(-1)?.id ?? lastId
    most = Math.max(most, rows)
    pages += 1
    if (body.has_more !== (body.next_cursor !== null)) throw new Error(`${path}: has_more and next_cursor disagree`)
    cursor = body.next_cursor ?? ''
  } while (cursor !== '' && pages < upTo)
  return { cursor: before, found, lastId, most, pages }
}

/** What follows the measured table is not measured here, and stays. */
function writtenByHand(): string {
  const text = readFileSync(DOCUMENT, 'utf8')
  const at = text.indexOf('\n## ')
  return at < 0 ? '' : text.slice(at)
}

function documentOf({ events, consumers, names, buyers }: Record<Subject['things'], Table>): string {
  const version = (name: string) =>
    (JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')) as { version: string }).version
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const table = ({ headings, rows }: Table) =>
    [headings, headings.map((_, i) => (i === 0 || i === headings.length - 1 ? '---' : '---:')), ...rows]
      .map(line)
      .join('\n')
  return `# What reads cost at scale

Measured at 1 k, 100 k and 1 M events, ${new Date().toISOString().slice(0, 10)}, on local D1 (workerd ${version('workerd')}, miniflare ${version('miniflare')}, Node
${process.versions.node}). To repeat: \`npm run bench:scale\` (a few minutes; about 2 GB of temporary space). It fills a database of each size
(nine tenths in one project, the rest in fifty; 60 event types, 2 % failed, 0.1 % open, three refs an event), sends each
request to the deployed bundle with a real API key, and fails if a bound is exceeded.

Each cell: **rows read · D1 round trips · p50 ms** of a whole request, including authentication (2 rows, in the first trip),
with 20 events a page. The milliseconds were measured on a machine that did other work too, and without a network; rows and
trips are the same everywhere. "Pages": the number of pages to the last one (a page may be \`truncated\` at its bound before it is full) and the
most rows that one of them read. No page of a search reads more than ${MOST_ROWS.toLocaleString('en')}. "What grows" compares 100 k with 1 M events,
because a page of the smallest database is not always full.

${table(events)}

The same with up to 100 k consumers in another database. Each consumer has an external id, a customer, a subscription of this customer,
a grant and two devices; one customer in a hundred has no consumer. The catalog has 20 features and 5 plans; a check asks about three
features. "What grows" compares 10 k with 100 k consumers.

${table(consumers)}

The same with two purchases of each customer, one returned in part and one returned in full, whose prices give a plan for a year. Here,
rows read and trips must be the same at both sizes; the last column is how many times as long the fastest request takes in the larger one.

${table(buyers)}

The search of the whole project, by a text. Here, each consumer also has a name. Each customer has a name, an email address and an invoice with a number. Each text was searched ${REPEATS_OF_SEARCH} times.

${table(names)}
`
}
