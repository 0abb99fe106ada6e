import { Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { SearchQuery } from '../../../search/fields'
import { find } from '../../../search/read'
import { isSecret, typed } from '../../../search/typed'
import { page, pathsOf, type Visit } from '../../page'
import { parse, refusalOf } from '../../refusal'
import { userOf } from '../../session'
import { Results, type Shown, searchPage } from './page'
import { listsFor, pagesNamed, placeOf } from './places'

/** The search of a project: its page, and the results alone while somebody types. */
export const searchPages = new Hono<HttpEnv>().get('/', page('projects:read'), async (c) => {
  const shown = await readShown(c, (c.req.query('q') ?? '').trim())
  if (c.req.header('HX-Target') !== 'found') return searchPage(c, shown)
  return c.html(<Results shown={shown} />)
})

async function readShown(c: Visit, text: string): Promise<Shown> {
  const [user, paths] = [userOf(c), pathsOf(c)]
  const pages = pagesNamed(user, paths, text)
  const shown = { text, places: pages, complete: true, problem: null }
  if (text === '') return shown
  try {
    const { q } = parse(SearchQuery, { q: text })
    const asked = typed(q)
    const { data, complete } = await find(c, asked)
    const found = data.map((one) => placeOf(paths, one))
    return { ...shown, places: [...pages, ...found, ...listsFor(user, paths, asked)], complete }
  } catch (error) {
    const { mistakes } = refusalOf(error)
    // A secret is not repeated.
    return {
      ...shown,
      text: isSecret(text) ? '' : text,
      places: [],
      problem: mistakes.q ?? mistakes.form ?? 'You cannot search for this text.',
    }
  }
}
