// Chrome: the button opens the panel. Nothing else lives here, so that nothing is lost when the browser puts it to sleep.
chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: true });
