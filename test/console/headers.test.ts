import { beforeEach, describe, expect, it } from 'vitest'
import { GUIDES } from '../../src/console/pages/connections/guides'
import { type Answer, call, deliver, failingD1, lossyQueue, mint, settled, stripeEvent } from '../harness'
import { nameOf } from '../routes/of-app'
import { type Cast, formToken, newCast, PAGES, pageIn, submit, visit } from './visit'

const INSTRUCTIONS = Object.values(GUIDES).map(({ docs }) => docs)
// Other people for each test: everybody has 600 requests a minute.
let cast: Cast
beforeEach(async () => {
  cast = await newCast()
})

describe('every page', () => {
  const check = (headers: Headers) => {
    const policy = headers.get('Content-Security-Policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("style-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("base-uri 'none'")
    expect(policy).toContain("object-src 'none'")
    expect(policy).toContain("form-action 'self'")
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
      'strict-transport-security': expect.stringMatching(/^max-age=\d{8}/),
      'permissions-policy': expect.stringContaining('camera=()'),
    })
    expect(headers.get('Access-Control-Allow-Origin')).toBeNull()
  }

  it('has the security headers for every user and status', async () => {
    for (const page of PAGES) {
      const path = pageIn(cast.world, page)
      for (const token of [null, cast.viewer, cast.owner]) {
        if (page.path.includes('sign-out') || page.path.endsWith('/end')) continue
        const answer = await visit(path, token, page.method === 'POST' ? { form: {} } : {})
        check(answer.headers)
        expect([nameOf(page), answer.status < 500]).toEqual([nameOf(page), true])
      }
    }
    for (const path of ['/console/nothing', '/console/p/none', '/console/nothing/']) {
      check((await visit(path, cast.owner)).headers)
    }
  })

  it('has no inline script, style or handler', async () => {
    for (const page of PAGES.filter(({ method }) => method === 'GET')) {
      const { text } = await visit(pageIn(cast.world, page), cast.owner)
      expect(text).not.toMatch(/<script(?![^>]* src="\/assets\/)|<style|\sstyle="|\son\w+="|javascript:/i)
      // The vendors' own instructions are elsewhere: links only, and nothing is sent along.
      const own = text.replaceAll(/<a href="(https:[^"]+)" target="_blank" rel="noreferrer">/g, (link, to) =>
        INSTRUCTIONS.includes(to) ? '' : link,
      )
      expect([...own.matchAll(/(?:src|href|action|hx-get)="([^"]*)"/g)].map(([, to]) => to)).toEqual(
        expect.not.arrayContaining([expect.stringMatching(/^(https?:)?\/\//)]),
      )
    }
  })

  it('sends no HSTS over http', async () => {
    const answer = await call('http://localhost:8787/console/sign-in')
    expect(answer.headers.get('Strict-Transport-Security')).toBeNull()
  })

  it('is an error page if the database does not respond', async () => {
    const answer = await visit('/console', cast.owner, {
      bindings: { DB: failingD1('D1_ERROR: Network connection lost.') },
    })
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '5'])
    expect(answer.text).toContain('<h1>')
    check(answer.headers)
  })

  it('has an address above which every other leads somewhere', async () => {
    const above = PAGES.filter(({ method }) => method === 'GET').flatMap((entry) => {
      const parts = pageIn(cast.world, entry).split('/')
      return parts.map((_, at) => parts.slice(0, at).join('/')).filter((path) => path.startsWith('/console'))
    })
    const lost: string[] = []
    for (const path of new Set(above)) if ((await visit(path, cast.owner)).status === 404) lost.push(path)
    expect(lost).toEqual([])
  })

  it('is an error page if something is not found or invalid', async () => {
    const answer = await visit('/console/p/none/platform/settings/api-keys', cast.owner)
    expect([answer.status, answer.headers.get('Content-Type')]).toEqual([404, 'text/html; charset=UTF-8'])
    expect(answer.text).toContain('href="/console"')
    const inProject = `href="/console/p/${cast.world.project}/platform/settings/api-keys"`
    const lost = `/console/p/${cast.world.project}/nothing`
    // The frame is that of the project for its members, of no project for other users, and is not there for a stranger.
    for (const [path, token, framed, ofProject] of [
      ['/console/nothing', null, false, false],
      [lost, null, false, false],
      ['/console/nothing', cast.owner, true, false],
      [lost, cast.stranger, true, false],
      [lost, cast.owner, true, true],
    ] as const) {
      const { status, text } = await visit(path, token)
      expect([path, status, text.includes('id="side"'), text.includes(inProject)]).toEqual([
        path,
        404,
        framed,
        ofProject,
      ])
      if (framed) expect(text).toMatch(/name="form_token" value="[0-9a-f]{64}"/)
    }
    const bad = await visit(`/console/p/${cast.world.project}/platform/settings/api-keys?cursor=zzz`, cast.owner)
    expect([bad.status, bad.text.includes('<h1>')]).toEqual([400, true])
  })
})

describe('untrusted text', () => {
  const HOSTILE = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus='alert(1)",
    'javascript:alert(1)',
    '</pre><svg onload=alert(1)>',
    '&lt;b&gt; &amp; {{x}} %3Cb%3E',
  ]
  const harmless = ({ status, text }: Answer) => {
    expect([429, 500, 503]).not.toContain(status)
    expect(text).not.toMatch(/<script>|<img|<svg onload|<b>|\sonfocus='|\sonerror=alert\(1\)>(?!&)/)
    expect(text).not.toMatch(/href="javascript/)
  }

  it('is escaped in the names of projects, API keys and connections', async () => {
    const form_token = await formToken(cast.owner)
    for (const name of HOSTILE) {
      const made = await visit('/console/projects', cast.owner, { form: { form_token, name } })
      expect(made.status).toBe(303)
      const project = /\/p\/(prj_\w+)/.exec(made.headers.get('Location') ?? '')?.[1] ?? ''
      await mint(cast.owner, project, { name })
      const base = `/console/p/${project}/platform`
      const fields = { vendor: 'stripe', name, livemode: 'false', signing_secret: 'whsec_0123456789' }
      const connected = await submit(`${base}/billing/connections`, cast.owner, fields)
      expect(connected.status).toBe(303)
      const paths = [
        '/console',
        `/console/p/${project}`,
        `${base}/settings/api-keys`,
        `${base}/billing/connections`,
        `${base}/billing/webhooks/health`,
      ]
      for (const path of [...paths, connected.headers.get('Location') as string]) {
        harmless(await visit(path, cast.owner))
      }
    }
  })

  it('is escaped when a form or a search is shown again', async () => {
    const { project } = cast.world
    for (const text of HOSTILE) {
      const events = `/console/p/${project}/platform/billing/webhooks`
      const query = new URLSearchParams({
        ref: text,
        error: text,
        event_type: text,
        received_after: text,
        cursor: text,
      })
      harmless(await visit(`${events}?${query}`, cast.owner))
      harmless(await visit(`${events}/replay?${query}`, cast.owner))
      harmless(await visit(`/console/sign-in?next=${encodeURIComponent(text)}&done=${encodeURIComponent(text)}`, null))
      harmless(await visit('/console/sign-in', null, { form: { email: text, next: text } }))
      harmless(
        await visit('/console/sign-in/code', null, { form: { email: text, next: text, challenge: text, code: text } }),
      )
      harmless(
        await submit(`/console/p/${project}/platform/settings/api-keys`, cast.owner, {
          name: `${text}\u0000`,
          expires: text,
        }),
      )
    }
  })

  it('is escaped in the data of an event', async () => {
    const { project, connection, owner } = cast.world
    const sent: { event: object; id: string }[] = []
    for (const text of HOSTILE) {
      const event = { ...stripeEvent(text, { id: text, customer: text, status: text }), api_version: text }
      const { body } = await deliver(connection.id, event)
      sent.push({ event, id: body.event_ids[0] })
    }
    for (const { event, id } of sent) {
      await settled(project, owner.token, id)
      const events = `/console/p/${project}/platform/billing/webhooks`
      for (const path of [events, `${events}/${id}`, `${events}/live`]) {
        harmless(await visit(path, cast.owner))
      }
      const raw = await visit(`${events}/${id}/payload`, cast.owner)
      expect(raw.text).toBe(JSON.stringify(event))
      expect(raw.headers.get('Content-Type')).toBe('application/octet-stream')
      expect(raw.headers.get('Content-Disposition')).toMatch(/^attachment/)
    }
    await deliver(connection.id, '{"id":"evt_broken","object":"<script>alert(1)</script>"}', {
      bindings: { EVENTS: lossyQueue().EVENTS },
    })
    harmless(await visit(`/console/p/${project}/platform/billing/webhooks`, cast.owner))
  })
})
