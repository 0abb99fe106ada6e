// What the console does beyond its forms: copying, confirmation in place, live updates. Every page works without it.

/** Says a text to a screen reader, without moving anything. */
function say(text) {
  document.getElementById('said').textContent = text
}

// Copy buttons are of no use without this script, so it is what shows them.
function showCopyButtons() {
  for (const button of document.querySelectorAll('[data-copy]')) button.hidden = false
}

async function copy(button) {
  const label = button.innerHTML
  try {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent)
    button.textContent = 'Copied'
    say('Copied')
  } catch {
    getSelection().selectAllChildren(document.getElementById(button.dataset.copy))
    button.textContent = 'Press Ctrl+C'
  }
  setTimeout(() => {
    button.innerHTML = label
  }, 2000)
}

/** Opens a confirmation page's own question in a dialog; its form posts as it would on its page. */
async function openDialog(link) {
  const dialog = document.getElementById('dialog')
  const answer = await fetch(link.href, { headers: { 'HX-Request': 'true' } })
  const question = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('confirm')
  if (!answer.ok || !question) {
    location.assign(link.href)
    return
  }
  dialog.replaceChildren(question)
  dialog.showModal()
}

document.addEventListener('click', (event) => {
  const target = event.target.closest('[data-copy], [data-dialog], [data-close], [data-show-new]')
  for (const menu of document.querySelectorAll('.menu[open]')) if (!menu.contains(event.target)) menu.open = false
  if (!target || event.ctrlKey || event.metaKey || event.shiftKey) return
  if (target.dataset.copy) copy(target)
  else if (target.hasAttribute('data-show-new')) pollNow()
  else if (target.hasAttribute('data-dialog')) {
    event.preventDefault()
    openDialog(target)
  } else if (target.closest('dialog')) {
    event.preventDefault()
    target.closest('dialog').close()
  }
})
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return
  const menu = document.querySelector('.menu[open]')
  if (!menu) return
  menu.open = false
  menu.querySelector('summary').focus()
})

// Live rows: what is polled for is what is newer than the first row, and what has become of the open ones.
let asked = false

function pollNow() {
  asked = true
  htmx.trigger('#events', 'poll')
}

/** Whether somebody is reading the rows: then they stay where they are. */
function isReading(rows) {
  return scrollY > 120 || rows.matches(':hover') || rows.contains(document.activeElement)
}

document.addEventListener('htmx:beforeRequest', (event) => {
  if (document.hidden && event.target.hasAttribute('data-live')) event.preventDefault()
})
document.addEventListener('htmx:configRequest', (event) => {
  const rows = event.target
  if (rows.id !== 'events') return
  event.detail.parameters.newest = rows.querySelector('tr')?.id ?? ''
  event.detail.parameters.open = [...rows.querySelectorAll('[data-open]')]
    .map((row) => `${row.id}:${row.dataset.open}`)
    .slice(0, 50)
})
document.addEventListener('htmx:beforeSwap', (event) => {
  if (event.target.id !== 'events' || event.detail.xhr.status !== 200) return
  const fresh = Number(event.detail.xhr.getResponseHeader('X-New-Rows'))
  const hold = fresh > 0 && !asked && isReading(event.target)
  const button = document.querySelector('[data-show-new]')
  button.hidden = !hold
  button.textContent = `Show ${fresh} new event${fresh === 1 ? '' : 's'}`
  if (hold) event.detail.shouldSwap = false
  else if (fresh > 0) say(`${fresh} new event${fresh === 1 ? '' : 's'}`)
  asked = false
})
document.addEventListener('htmx:afterSettle', (event) => {
  showCopyButtons()
  if (event.target.id !== 'events') return
  for (const row of [...event.target.querySelectorAll('tr')].slice(100)) row.remove()
  document.getElementById('no-events')?.remove()
})
// A page that asks for itself again until what it shows is done.
document.addEventListener('htmx:responseError', (event) => {
  if (event.detail.xhr.status === 429) say('Updates are paused: too many requests.')
})

// Of what each vendor calls its secret, the chosen one's is shown; without this script it is a list.
function showHint() {
  const chosen = document.getElementById('vendor')
  if (!chosen) return
  for (const hint of document.querySelectorAll('[data-vendor]')) hint.hidden = hint.dataset.vendor !== chosen.value
}
document.addEventListener('change', showHint)
addEventListener('pageshow', showHint) // coming back, the browser has put back what was chosen

showCopyButtons()
// On a narrow screen the current tab may lie out of view. Not scrollIntoView: that moves where Tab starts from.
const tab = document.querySelector('.tabs [aria-current]')
if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - 16
// The message of a redirect is said once: a reload does not say it again.
if (new URLSearchParams(location.search).has('done')) {
  const address = new URL(location.href)
  address.searchParams.delete('done')
  history.replaceState(null, '', address)
}
