import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids'
import { insertObjects } from '../billing/rows'
import { insertConsumer } from '../consumers/rows'
import { begin, call, captureConsole, D1_LOST, freshProject, STORE, tamperedD1 } from '../harness'
import { insertConnection, insertEvents, seedEvent } from '../inbox/seeding'
import { visit } from './visit'

/** More than a download reads at once. */
const MANY = 230
/** More than a download has. */
const TOO_MANY = 20_001

describe('a list as a file', () => {
  let project: string
  let token: string
  let paths: Record<string, string>
  const added: Record<string, string[]> = {}
  const addEvents = async (n: number, event_type: string) => {
    const connection = await insertConnection(project, 'stripe')
    const seeds = Array.from({ length: n }, () => seedEvent({ connection, received_at: Date.now(), event_type }))
    await insertEvents(project, seeds)
    return seeds.map(({ id }) => id)
  }
  const fileOf = async (path: string) => {
    const { status, headers, text } = await visit(path, token)
    expect([path, status, headers.get('Content-Type')]).toEqual([path, 200, 'text/csv; charset=utf-8; header=present'])
    const [head = '', ...lines] = text.split('\r\n')
    expect(lines.pop()).toBe('')
    return { columns: head.split(','), lines, disposition: headers.get('Content-Disposition') }
  }

  beforeAll(async () => {
    const fresh = await freshProject()
    project = fresh.project
    token = fresh.owner.token
    const at = `/console/p/${project}/platform`
    paths = {
      events: `${at}/billing/webhooks`,
      subscriptions: `${at}/billing/subscriptions`,
      invoices: `${at}/billing/invoices`,
      consumers: `${at}/consumers`,
      'audit-log': `${at}/settings/audit-log`,
      changes: `${at}/changes`,
    }
    added.events = await addEvents(MANY, 'invoice.paid')
    await addEvents(2, 'charge.failed')
    const ids = (prefix: string) => Array.from({ length: MANY }, (_, n) => `${prefix}_${n}`)
    added.subscriptions = ids('sub')
    added.invoices = ids('in')
    await insertObjects(project, 'subscription', added.subscriptions)
    await insertObjects(project, 'invoice', added.invoices)
    added.consumers = []
    for (let n = 0; n < MANY; n++) added.consumers.push(await insertConsumer(project, `user_${n}`))
  })

  it.each([
    ['events', '?event_type=invoice.*', 'event_type=charge.failed', 2],
    ['subscriptions', '', 'status=canceled', 0],
    ['invoices', '', 'status=paid', 0],
    ['consumers', '', 'state=blocked', 0],
  ])('has all rows of the list of %s, and those of a filter', async (name, all, filter, found) => {
    const { lines, columns, disposition } = await fileOf(`${paths[name]}/csv${all}`)
    expect(lines.map((line) => line.split(',')[0]).sort()).toEqual(added[name]?.toSorted())
    expect(columns[0]).toBe('id')
    expect(disposition).toBe(`attachment; filename="${name}-${new Date().toISOString().slice(0, 10)}.csv"`)
    expect((await fileOf(`${paths[name]}/csv?${filter}`)).lines).toHaveLength(found)
    const { text } = await visit(`${paths[name]}${all}`, token)
    expect(text).toContain(`href="${paths[name]}/csv${all}"`)
  })

  it('has the whole audit log and all changes, each in words that a program reads', async () => {
    const ids = JSON.stringify(Array.from({ length: MANY }, (_, n) => newId('aud', Date.now() - n)))
    await STORE.prepare(
      `INSERT INTO audit_log (project_id, id, actor_type, actor_id, action, object_type, object_id, request_id, details)
       SELECT ?, value, 'system', 'sys', 'feature.updated', 'feature', 'seats', 'req_1', '{"a":[1,"x"]}' FROM json_each(?)`,
    )
      .bind(project, ids)
      .run()
    const log = await fileOf(`${paths['audit-log']}/csv`)
    expect(
      log.lines.filter((line) => line.includes(',feature.updated,feature,seats,req_1,,"{""a"":[1,""x""]}"')),
    ).toHaveLength(MANY)
    expect(log.lines.at(-1)).toMatch(/,user,usr_\w+,[^,]+@[^,]+,project\.created,project,prj_/)
    expect((await fileOf(`${paths['audit-log']}/csv?action=project.*`)).lines).toHaveLength(1)

    const changes = await fileOf(`${paths.changes}/csv`)
    const numbers = changes.lines.map((line) => Number(line.split(',')[changes.columns.indexOf('number')]))
    expect(numbers.length).toBeGreaterThan(MANY)
    expect(numbers).toEqual(Array.from(numbers, (_, n) => numbers.length - n))
    expect((await fileOf(`${paths.changes}/csv?order=asc`)).lines).toEqual(changes.lines.toReversed())
    expect((await fileOf(`${paths['audit-log']}/csv?order=asc`)).lines).toEqual(log.lines.toReversed())
    const types = (await fileOf(`${paths.changes}/csv?types=project.*`)).lines.map((line) => line.split(',')[3])
    expect(types).toEqual(['project.created'])
    for (const name of ['audit-log', 'changes'])
      expect((await visit(paths[name] ?? '', token)).text).toContain(`href="${paths[name]}/csv"`)
  })

  it('writes amounts as numbers, and no cell that a spreadsheet would calculate', async () => {
    const { columns, lines } = await fileOf(`${paths.invoices}/csv?status=open`)
    const cells = lines[0]?.split(',') ?? []
    expect([cells[columns.indexOf('currency')], cells[columns.indexOf('total')]]).toEqual(['USD', '12.00'])
    const names = ['=1+1', '+49 30 1234', '-2+3', '@SUM(A1)', 'Ada, "the Countess"', 'Ада']
    for (const [n, name] of names.entries()) {
      const json = { external_id: `named_${n}`, name }
      expect((await call('/platform/v1/consumers', { method: 'POST', token, project, json })).status).toBe(201)
    }
    const { text } = await visit(`${paths.consumers}/csv`, token)
    const written = [
      "'=1+1",
      `"'+49 30 1234"`,
      "'-2+3",
      "'@SUM(A1)",
      `"Ada, ""the Countess"""`,

      'Ада',
    ]
    for (const one of written) expect(text).toContain(`,${one},`)
  })

  it('says in its last line that the list goes on', async () => {
    await addEvents(TOO_MANY, 'customer.updated')
    const { lines } = await fileOf(`${paths.events}/csv?event_type=customer.updated`)
    expect([lines.length, lines.at(-1)]).toEqual([
      20_001,
      '"This file ends after 20000 rows, but the list has more. Narrow the filters to export the rest."',
    ])
  })

  it('takes turns with others, and a reader who hangs up is no failure', async () => {
    const reads = { now: 0, most: 0, sent: 0 }
    const DB = tamperedD1(async ({ run }) => {
      reads.sent += 1
      reads.most = Math.max(reads.most, ++reads.now)
      await scheduler.wait(5)
      return run().finally(() => {
        reads.now -= 1
      })
    })
    const logged = captureConsole()
    const headers = { Cookie: `__Host-session=${token}` }
    const path = `${paths.events}/csv?event_type=customer.updated`
    const begun: Awaited<ReturnType<typeof begin>>[] = []
    for (let n = 0; n < 4; n++) begun.push(await begin(path, { headers, bindings: { DB } }))
    const readers = begun.map(({ response }) => response.body?.getReader())
    for (const reader of readers) await reader?.read()
    Object.assign(reads, { most: 0, sent: 0 })
    const third = readers.map((reader) => reader?.read())
    await Promise.all(third)
    expect([reads.most, reads.sent >= readers.length]).toEqual([1, true])
    const during = readers.map((reader) => reader?.read().catch(() => null))
    await Promise.all(readers.map((reader) => reader?.cancel()))
    await Promise.all([...during, ...begun.map(({ rest }) => rest())])
    expect(logged.filter((line) => line.includes('csv_cut_off'))).toEqual([])
  })

  it('is cut off where a page cannot be read, and refuses a wrong filter', async () => {
    let isLost = false
    const DB = tamperedD1(async ({ run }) => {
      if (isLost) throw new Error(D1_LOST)
      return run()
    })
    const headers = { Cookie: `__Host-session=${token}` }
    const { response, rest } = await begin(`${paths.invoices}/csv`, { headers, bindings: { DB } })
    isLost = true
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow('database_unavailable')
    await rest()
    for (const wrong of [
      `${paths.events}/csv?min_attempts=x`,
      `${paths.changes}/csv?types=x`,
      `${paths['audit-log']}/csv?action=**`,
    ]) {
      const { status, text } = await visit(wrong, token)
      expect([wrong, status, text.includes('<h1>')]).toEqual([wrong, 422, true])
    }
  })
})
