; The installer of the test package (windows.mjs), for one user, without questions when it is called with /S. The release's is
; electron-builder's, which cannot be made offline. Uninstalling removes what was installed; chats and settings are the person's.
; Defines: VERSION, SOURCE (folder with app, runtime, concertina.cmd and the texts), OUTPUT, KILOBYTES (of all files)
; of 64 bits, as the app: a 32-bit one would be sent to other folders by Windows, and runs in no Wine without 32 bits
Target amd64-unicode
!include "MUI2.nsh"

!define NAME "Concertina (test)"
!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\concertina-test"

Name "${NAME}"
OutFile "${OUTPUT}"
InstallDir "$LOCALAPPDATA\Programs\concertina-test"
InstallDirRegKey HKCU "${KEY}" "InstallLocation"
RequestExecutionLevel user
ManifestDPIAware true
; one dictionary over all files; what is packed already gains nothing from a larger one
SetCompressor /SOLID zlib

!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

Section "install"
  SetOutPath "$INSTDIR"
  ; of a former version: what the new one has no more must not stay
  RMDir /r "$INSTDIR\app"
  RMDir /r "$INSTDIR\runtime"
  File /r "${SOURCE}\*.*"
  CreateDirectory "$SMPROGRAMS"
  CreateShortCut "$SMPROGRAMS\${NAME}.lnk" "$INSTDIR\concertina.cmd" "serve"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  WriteRegStr HKCU "${KEY}" "DisplayName" "${NAME}"
  WriteRegStr HKCU "${KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${KEY}" "Publisher" "Concertina contributors"
  WriteRegStr HKCU "${KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${KEY}" "EstimatedSize" ${KILOBYTES}
  WriteRegDWORD HKCU "${KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${KEY}" "NoRepair" 1
SectionEnd

Section "Uninstall"
  ; by name: the folder may hold files of the person
  RMDir /r "$INSTDIR\app"
  RMDir /r "$INSTDIR\runtime"
  Delete "$INSTDIR\concertina.cmd"
  Delete "$INSTDIR\LICENSE.txt"
  Delete "$INSTDIR\THIRD-PARTY-NOTICES.txt"
  Delete "$INSTDIR\TEST-PACKAGE.txt"
  Delete "$INSTDIR\uninstall.exe"
  SetOutPath "$TEMP"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\${NAME}.lnk"
  DeleteRegKey HKCU "${KEY}"
SectionEnd
