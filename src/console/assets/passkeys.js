// Fills in the forms that a passkey answers. They are hidden without this script, and in browsers without passkeys.
{
  const { browserSupportsWebAuthn, startAuthentication, startRegistration } = SimpleWebAuthnBrowser
  const supported = browserSupportsWebAuthn()
  for (const form of document.querySelectorAll('[data-passkey]')) form.hidden = !supported
  for (const note of document.querySelectorAll('[data-no-passkey]')) note.hidden = supported

  document.addEventListener('submit', (event) => {
    const form = event.target
    if (!form.matches('[data-passkey]')) return
    event.preventDefault()
    const button = form.querySelector('[type=submit]')
    if (button.disabled) return
    button.disabled = true
    show(form, '')
    ask(form)
      .catch((error) => show(form, wordsFor(error)))
      .finally(() => {
        button.disabled = false
      })
  })

  /** Gets options from the server, asks the user for a passkey, and sends the answer as an ordinary form. */
  async function ask(form) {
    const { passkey, options } = form.dataset
    const body = new URLSearchParams(new FormData(form))
    const answer = await fetch(options, { method: 'POST', headers: { 'HX-Request': 'true' }, body })
    const elsewhere = answer.headers.get('HX-Redirect')
    if (elsewhere) return location.assign(elsewhere)
    const isJson = answer.headers.get('Content-Type')?.includes('json')
    const optionsJSON = isJson ? await answer.json() : { detail: 'Reload the page, and try again.' }
    if (!answer.ok || !isJson) return show(form, optionsJSON.detail)
    const start = passkey === 'create' ? startRegistration : startAuthentication
    form.elements.credential.value = JSON.stringify(await start({ optionsJSON }))
    form.submit()
  }

  function show(form, text) {
    const note = form.querySelector('[data-said]')
    note.textContent = text
    note.hidden = text === ''
  }

  function wordsFor({ name }) {
    if (name === 'NotAllowedError' || name === 'AbortError') return 'No passkey was used. Try again.'
    if (name === 'InvalidStateError') return 'This device already has a passkey for your account.'
    if (name === 'SecurityError') return 'Passkeys do not work at this address. Open the console at its own address.'
    return 'The passkey could not be used. Check your connection, and try again.'
  }
}
