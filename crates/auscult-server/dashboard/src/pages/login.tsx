// Who are you?

import { useState } from "preact/hooks";
import { write } from "../api";
import { Failure, Form, useTitle } from "../parts/basics";
import { go, useAddress } from "../router";
import { loadSession } from "../store";
import { t } from "../texts";

export function LoginPage() {
  useTitle(t.login.title);
  const { query } = useAddress();
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (form: HTMLFormElement) => {
    const values = new FormData(form);
    setBusy(true);
    setError(null);
    try {
      await write("POST", "/session", { name: values.get("name"), password: values.get("password") });
      await loadSession();
      const to = query.get("to") ?? "/";
      // Only addresses of these pages: nobody is sent elsewhere by a link.
      go(/^\/(?![/\\])/.test(to) && !to.startsWith("/login") ? to : "/", true);
    } catch (problem) {
      setError(problem as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Form class="card login" send={submit}>
      <h1>{t.login.title}</h1>
      <label>
        {t.login.name}
        <input name="name" autocomplete="username" required autofocus />
      </label>
      <label>
        {t.login.password}
        <input name="password" type="password" autocomplete="current-password" required />
      </label>
      {error && <Failure error={error} />}
      <button type="submit" class="primary" disabled={busy}>
        {t.login.go}
      </button>
      <p class="hint">{t.login.forgot}</p>
    </Form>
  );
}
