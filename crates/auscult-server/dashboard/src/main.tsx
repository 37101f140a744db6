// Where the pages begin.

import { render } from "preact";
import { App } from "./app";
import { listen } from "./router";
import { applyTheme } from "./theme";

applyTheme();
listen();
const root = document.getElementById("app");
if (root) render(<App />, root);
