// The parts of a page that keep themselves up to date: badges, bars of jobs, answers as they come.

import { LivePage } from "./live_page.js";

const page = new LivePage();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".memedex-live");
  page.take(root, data, () => setTriggerValue("outdated", performance.now()));
  return () => {
    // Streamlit also calls this, on a page that stays, for a run of this function that a newer one overtook.
    if (!root.isConnected) page.drop(root);
  };
}
