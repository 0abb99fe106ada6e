import { Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { FindQuery } from '../../../search/fields'
import { find } from '../../../search/read'
import { looksSecret, readText } from '../../../search/text'
import { page, pathsOf, type Visit } from '../../page'
import { parse, refusalOf } from '../../refusal'
import { userOf } from '../../session'
import { FoundPlaces, type Shown, searchPage } from './page'
import { destinationOf, eventsOfType, listsFor, pagesNamed, settingsNamed } from './places'

/** The search of a project: its page, and the results alone while somebody types. */
export const searchPages = new Hono<HttpEnv>().get('/', page('projects:read'), async (c) => {
  const shown = await readShown(c, (c.req.query('q') ?? '').trim())
  if (c.req.header('HX-Target') !== 'found') return searchPage(c, shown)
  return c.html(<FoundPlaces shown={shown} />)
})

async function readShown(c: Visit, text: string): Promise<Shown> {
  const [user, paths] = [userOf(c), pathsOf(c)]
  const pages = pagesNamed(user, paths, text)
  const shown = { text, places: pages, elsewhere: [], complete: true, problem: null }
  if (text === '') return shown
  try {
    const { q } = parse(FindQuery, { q: text })
    const asked = readText(q)
    const { data, complete } = await find(c, asked)
    const found = data.map((one) => destinationOf(paths, one))
    const typed = eventsOfType(user, paths, q)
    const places = [...pages, ...found, ...typed, ...settingsNamed(user, paths, q)]
    const elsewhere = listsFor(user, paths, asked).filter(({ to }) => typed.every((one) => one.to !== to))
    return { ...shown, places, elsewhere, complete }
  } catch (error) {
    const { mistakes } = refusalOf(error)
    // A secret is not repeated.
    return {
      ...shown,
      text: looksSecret(text) ? '' : text,
      places: [],
      problem: mistakes.q ?? mistakes.form ?? 'This text cannot be searched.',
    }
  }
}
